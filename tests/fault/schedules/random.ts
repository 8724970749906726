// Choices that a seed determines: the same seed makes the same schedule, on any machine.

export interface Choices {
  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number;
  oneOf<T>(values: readonly T[]): T;
  /** Whether something of this probability happens. */
  chance(probability: number): boolean;
  many<T>(count: number, make: (index: number) => T): T[];
}

/** mulberry32, which is public domain: small, and good enough to choose faults. */
export function choicesOf(seed: number): Choices {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  return {
    between,
    oneOf: <T>(values: readonly T[]) => values[between(0, values.length - 1)] as T,
    chance: (probability) => next() < probability,
    many: (count, make) => Array.from({ length: count }, (_, index) => make(index)),
  };
}

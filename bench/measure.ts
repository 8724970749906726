// Times and their ratios. Only ratios of one run mean anything: machines differ and are noisy.

export interface Row {
  name: string;
  /** Ours in the row's unit, the median. */
  ours: number;
  /** The baseline; null for a plain figure. */
  base: number | null;
  unit: 'ms' | 'MB/s' | '1/s' | 'MB' | 'kB' | '%' | 'events';
  /** Null for a row that only explains another. */
  target: string | null;
  met: boolean | null;
}

export interface Pair {
  ours: number;
  base: number;
}

export const median = (values: number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** The medians of two workloads, run alternately so that noise affects both. */
export async function inTurn(
  rounds: number,
  ours: () => Promise<number>,
  base: () => Promise<number>,
): Promise<Pair> {
  const times = { ours: [] as number[], base: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    times.ours.push(await ours());
    times.base.push(await base());
  }
  return { ours: median(times.ours), base: median(times.base) };
}

export function atMost(name: string, { ours, base }: Pair, limit: number): Row {
  return { name, ours, base, unit: 'ms', target: `at most ${limit}x`, met: ours / base <= limit };
}

export function atLeast(name: string, { ours, base }: Pair, limit: number, unit: Row['unit']): Row {
  return { name, ours, base, unit, target: `at least ${limit}x`, met: ours / base >= limit };
}

/** A pair without a target. */
export const explaining = (name: string, { ours, base }: Pair, unit: Row['unit'] = 'ms'): Row => ({
  name,
  ours,
  base,
  unit,
  target: null,
  met: null,
});

export function below(name: string, ours: number, unit: Row['unit'], limit: number): Row {
  return { name, ours, base: null, unit, target: `under ${limit} ${unit}`, met: ours < limit };
}

const number = (value: number, unit: string): string =>
  `${value.toFixed(unit === 'events' ? 0 : value < 10 ? 2 : 1)} ${unit}`;

/** A figure without a target. */
export const plain = (name: string, ours: number, unit: Row['unit']): Row => ({
  name,
  ours,
  base: null,
  unit,
  target: null,
  met: null,
});

/** One line of the table. */
export const asLine = ({ name, ours, base, unit, target, met }: Row): string =>
  [
    '',
    name,
    number(ours, unit),
    base === null ? '-' : number(base, unit),
    base === null ? '-' : `${(ours / base).toFixed(2)}x`,
    target ?? '-',
    met === null ? '' : met ? 'met' : 'MISSED',
    '',
  ]
    .join(' | ')
    .trim();

export function printTable(rows: Row[], machine: string): void {
  const head = '| what | ours | base | ratio | target | |\n|---|---|---|---|---|---|';
  process.stdout.write(`${[machine, '', head, ...rows.map(asLine)].join('\n')}\n`);
}

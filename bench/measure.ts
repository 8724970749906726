// Times and their ratios. Only ratios of one run mean anything: machines differ and are noisy.

export interface Row {
  name: string;
  /** Ours in the row's unit, the median. */
  ours: number;
  /** What it is measured against; null for a plain limit. */
  base: number | null;
  unit: 'ms' | 'MB/s';
  /** `ours / base`, or `ours` where there is no base. */
  ratio: number;
  target: string;
  met: boolean;
}

export const median = (values: number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** The medians of two works, taken in turn so that noise falls on both. */
export async function inTurn(
  rounds: number,
  ours: () => Promise<number>,
  base: () => Promise<number>,
): Promise<{ ours: number; base: number }> {
  const times = { ours: [] as number[], base: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    times.ours.push(await ours());
    times.base.push(await base());
  }
  return { ours: median(times.ours), base: median(times.base) };
}

export function atMost(name: string, { ours, base }: { ours: number; base: number }, limit: number): Row {
  const ratio = ours / base;
  return { name, ours, base, unit: 'ms', ratio, target: `at most ${limit}x`, met: ratio <= limit };
}

export function printTable(rows: Row[], machine: string): void {
  const number = (value: number, unit: string): string => `${value.toFixed(value < 10 ? 2 : 1)} ${unit}`;
  const lines = rows.map(({ name, ours, base, unit, ratio, target, met }) =>
    [
      name,
      number(ours, unit),
      base === null ? '-' : number(base, unit),
      base === null ? '-' : `${ratio.toFixed(2)}x`,
      target,
      met ? 'met' : 'MISSED',
    ].join(' | '),
  );
  process.stdout.write(
    `${machine}\n\n| what | ours | base | ratio | target | |\n|---|---|---|---|---|---|\n`,
  );
  for (const line of lines) process.stdout.write(`| ${line} |\n`);
}

// Usage as a series of days (UTC) without gaps, for plots. Pure.
import type { UsageLine } from '../../../contracts/gateway/api';

const DAY_S = 24 * 60 * 60;

export interface DaySeries {
  /** Beginnings of days, in seconds since 1970. */
  days: number[];
  tokens: number[];
  /** Null where the price of something is not known. */
  dollars: (number | null)[];
}

/** From the first day with usage to the last; days without any are 0. */
export function daysOf(byDay: readonly UsageLine[]): DaySeries {
  const known = new Map(byDay.map((line) => [Date.parse(`${line.key}T00:00:00Z`) / 1_000, line]));
  const series: DaySeries = { days: [], tokens: [], dollars: [] };
  const last = Math.max(...known.keys());
  for (let day = Math.min(...known.keys()); day <= last; day += DAY_S) {
    const line = known.get(day);
    series.days.push(day);
    series.tokens.push(line ? line.inputTokens + line.outputTokens : 0);
    series.dollars.push(line ? line.costUsd : 0);
  }
  return series;
}

// The quota of a deployment: what the models of all its agents may use in a day. Plain JSON and pure functions: the day
// comes from the callers, who have it from the server. A machine's own clock may be years ahead.

/** What the configuration allows; null: no limit. */
export interface DailyQuota {
  tokens: number | null;
  costUsd: number | null;
}

/** What was used on a day. */
export interface DayUse {
  /** In UTC, as `2026-11-24`. */
  day: string;
  tokens: number;
  costUsd: number;
  /** Calls whose price is not known: no part of `costUsd`. */
  unpriced: number;
}

/** What one model call used. */
export interface ModelUse {
  /**
   * The run of the turn or agent, and how many messages it had: the same for each attempt, and more at each call. A further
   * request for the same summary has its number after the run.
   */
  run: string;
  messages: number;
  tokens: number;
  costUsd: number | null;
}

/** All that the counter knows. */
export interface QuotaRecord {
  use: DayUse | null;
  /** The messages at the last call that was counted of each run, the latest run last. */
  counted: [run: string, messages: number][];
}

/** The attempts of a call are seconds apart. As many other turns may be counted between two of them. */
const REMEMBERED_RUNS = 2_000;

export const quotaWorkflowId = (queue: string): string => `quota/${queue}`;

export const dayOf = (timeMs: number): string => new Date(timeMs).toISOString().slice(0, 10);

const DAY_MS = 86_400_000;
export const nextDayMs = (timeMs: number): number => (Math.floor(timeMs / DAY_MS) + 1) * DAY_MS;

/** A second attempt at a call that was counted changes nothing. */
export function countUse({ use, counted }: QuotaRecord, call: ModelUse, timeMs: number): QuotaRecord {
  const { run, messages, tokens, costUsd } = call;
  const last = counted.find(([other]) => other === run)?.[1] ?? -1;
  if (messages <= last) return { use, counted };
  const today = usedAt(use, timeMs);
  const others = counted.filter(([other]) => other !== run);
  return {
    use: {
      day: today.day,
      tokens: today.tokens + tokens,
      costUsd: today.costUsd + (costUsd ?? 0),
      unpriced: today.unpriced + (costUsd === null ? 1 : 0),
    },
    counted: [...others, [run, messages] as [string, number]].slice(-REMEMBERED_RUNS),
  };
}

/** What was used on the day of a time. */
export function usedAt(use: DayUse | null, timeMs: number): DayUse {
  const day = dayOf(timeMs);
  // About midnight the clocks of a server's machines differ: what has begun is not forgotten.
  const isToday = use?.day === day || use?.day === dayOf(nextDayMs(timeMs));
  return use && isToday ? use : { day, tokens: 0, costUsd: 0, unpriced: 0 };
}

/** Why no further call may begin, if so. */
export function reachedOf(
  { tokens, costUsd }: DailyQuota,
  used: DayUse,
): { got: string; allowed: string } | undefined {
  if (tokens !== null && used.tokens >= tokens)
    return { got: `${used.tokens} tokens`, allowed: `${tokens} tokens` };
  if (costUsd !== null && used.costUsd >= costUsd)
    return { got: dollars(used.costUsd), allowed: dollars(costUsd) };
  return undefined;
}

/** In cents, and exactly where there are less. */
export const dollars = (amount: number): string =>
  `$${Number.isInteger(amount * 100) ? amount.toFixed(2) : String(Number(amount.toFixed(4)))}`;

export const isLimited = ({ tokens, costUsd }: DailyQuota): boolean => tokens !== null || costUsd !== null;

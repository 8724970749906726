// Adds up what model calls took. Pure.
import type { Usage } from './agent';

/** The sum; a part whose price is not known leaves the cost of the whole unknown. */
export function addUsage(one: Usage | null | undefined, other: Usage | null | undefined): Usage | null {
  if (!one || !other) return one ?? other ?? null;
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    cachedTokens: one.cachedTokens + other.cachedTokens,
    costUsd: one.costUsd === null || other.costUsd === null ? null : one.costUsd + other.costUsd,
  };
}

export const tokensOf = (usage: Usage | null): number =>
  usage === null ? 0 : usage.inputTokens + usage.outputTokens;

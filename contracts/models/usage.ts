// Adds up the usage of model calls. Pure.
import type { Usage } from '../agents/agent';

/** The sum; if the price of one part is unknown, so is the total cost, and `pricedUsd` has the others'. */
export function addUsage(one: Usage | null | undefined, other: Usage | null | undefined): Usage | null {
  if (!one || !other) return one ?? other ?? null;
  const costUsd = one.costUsd === null || other.costUsd === null ? null : one.costUsd + other.costUsd;
  const pricedUsd = pricedOf(one) + pricedOf(other);
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    cachedTokens: one.cachedTokens + other.cachedTokens,
    costUsd,
    ...(costUsd === null && pricedUsd > 0 && { pricedUsd }),
  };
}

/** Dollars of the parts whose price is known: a part without a price lifts no limit. */
export const pricedOf = (usage: Usage | null): number => usage?.costUsd ?? usage?.pricedUsd ?? 0;

export const tokensOf = (usage: Usage | null): number =>
  usage === null ? 0 : usage.inputTokens + usage.outputTokens;

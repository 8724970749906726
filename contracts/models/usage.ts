// Adds up the usage of model calls. Pure.
import type { Usage } from '../agents/agent';

/** The sum; if the price of one part is unknown, so is the total cost. */
export function addUsage(one: Usage | null | undefined, other: Usage | null | undefined): Usage | null {
  if (!one || !other) return one ?? other ?? null;
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    cachedTokens: one.cachedTokens + other.cachedTokens,
    costUsd: one.costUsd === null || other.costUsd === null ? null : one.costUsd + other.costUsd,
  };
}

/**
 * The usage with every number that it lacks as 0, and an unknown cost as null: histories hold usages of own providers as
 * these wrote them, before replies were checked.
 */
export const wholeUsage = ({ inputTokens, outputTokens, cachedTokens, costUsd }: Partial<Usage>): Usage => ({
  inputTokens: numberOf(inputTokens),
  outputTokens: numberOf(outputTokens),
  cachedTokens: numberOf(cachedTokens),
  costUsd: typeof costUsd === 'number' ? costUsd : null,
});

const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 0);

export const tokensOf = (usage: Usage | null): number =>
  usage === null ? 0 : usage.inputTokens + usage.outputTokens;

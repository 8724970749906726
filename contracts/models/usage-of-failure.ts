// What a model was paid for before its activity failed. Pure.
import { TimeoutFailure } from '@temporalio/common';
import type { Usage } from '../agents/agent';
import type { ErrorFacts } from '../errors/holdfast-error';
import { fromFailure } from '../errors/failure';
import type { SummaryProgress } from './model-call';
import { addUsage } from './usage';

/** Of a failed `compact`: its error says so, or its last heartbeat. Undefined if nothing is known. */
export function usageOfFailure(err: unknown): Usage | undefined {
  const facts = fromFailure(err)?.facts;
  if (facts?.inputTokens !== undefined) return usageIn(facts);
  const cause = err instanceof Error ? err.cause : undefined;
  if (!(cause instanceof TimeoutFailure)) return undefined;
  const { used = [] } = (cause.lastHeartbeatDetails ?? {}) as Partial<SummaryProgress>;
  return used.reduce(addUsage, null) ?? undefined;
}

const usageIn = ({ costUsd, pricedUsd, ...facts }: ErrorFacts): Usage => ({
  inputTokens: numberOf(facts.inputTokens),
  outputTokens: numberOf(facts.outputTokens),
  cachedTokens: numberOf(facts.cachedTokens),
  costUsd: typeof costUsd === 'number' ? costUsd : null,
  ...(typeof pricedUsd === 'number' && { pricedUsd }),
});

const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 0);

// What a model was paid for before its activity failed. Pure.
import { TimeoutFailure } from '@temporalio/common';
import type { Usage } from '../agents/agent';
import { fromFailure } from '../errors/failure';
import type { SummaryProgress } from './model-call';
import { addUsage, wholeUsage } from './usage';

/** Of a failed `compact`: its error says so, or its last heartbeat. Undefined if nothing is known. */
export function usageOfFailure(err: unknown): Usage | undefined {
  const facts = fromFailure(err)?.facts;
  if (facts?.inputTokens !== undefined) return wholeUsage(facts);
  const cause = err instanceof Error ? err.cause : undefined;
  if (!(cause instanceof TimeoutFailure)) return undefined;
  const { used = [] } = (cause.lastHeartbeatDetails ?? {}) as Partial<SummaryProgress>;
  return used.reduce(addUsage, null) ?? undefined;
}

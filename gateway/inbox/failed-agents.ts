// The agents that have failed lately, and why. Why a run has failed never changes: it is asked once.
import { inTime } from '../../client/agents/agent-overview';
import { failureOf, listFailedRuns } from '../../client/agents/failed-runs';
import type { HoldfastClient } from '../../client/holdfast-client';
import type { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { InboxItem } from '../../contracts/gateway/api';
import { eachOf } from '../each-of';
import { RememberedRuns } from '../remembered-runs';

const AT_ONCE = 8;
/** Of all agents; a token sees fewer. */
const MAX_LISTED = 1_000;
/** Older failures are for the list of agents. */
const FAILED_MS = 24 * 3_600_000;
/** What is not known by then is asked at the next look. */
const ASK_MS = 3_000;

/** Shared by all requests. */
const reasons = new RememberedRuns<HoldfastError>();

export async function failedAgents({ temporal }: Pick<HoldfastClient, 'temporal'>): Promise<InboxItem[]> {
  const failed = await listFailedRuns(temporal, new Date(Date.now() - FAILED_MS), MAX_LISTED);
  const until = Date.now() + ASK_MS;
  return eachOf(failed, AT_ONCE, async (run): Promise<InboxItem> => {
    const { agent, runId, failedAt } = run;
    const ask = (): Promise<HoldfastError> => failureOf(temporal, run);
    const why = reasons.get(runId) ?? (Date.now() < until ? await inTime(temporal, ask) : null);
    const item = { kind: 'failed', agent, since: failedAt } as const;
    if (!why) return { ...item, text: 'has failed; why is not known now' };
    reasons.set(runId, why);
    const { code, message, next } = why;
    return { ...item, text: `has failed: ${code}`, failure: { code, message, next } };
  });
}

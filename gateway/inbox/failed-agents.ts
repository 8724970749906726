// The agents that have failed lately, and why. Why a run has failed never changes: it is asked once.
import { WorkflowFailedError, type Client, type WorkflowExecutionInfo } from '@temporalio/client';
import { inTime } from '../../client/agents/agent-overview';
import { listWorkflows } from '../../client/delivery/list-workflows';
import { fromFailure } from '../../contracts/errors/failure';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { InboxItem } from '../../contracts/gateway/api';
import { WORKFLOWS } from '../../contracts/messages';
import { agentOf } from '../approval-keys';
import { eachOf } from '../each-of';
import { RememberedRuns } from '../remembered-runs';

const AT_ONCE = 8;
/** Of all agents; a token sees fewer. */
const MAX_LISTED = 1_000;
/** Older failures are for the list of agents. */
const FAILED_MS = 24 * 3_600_000;
/** What is not known by then is asked at the next look. */
const ASK_MS = 3_000;

/** Shared by all requests, by run. */
const reasons = new RememberedRuns<HoldfastError>();

export async function failedAgents(client: Client): Promise<InboxItem[]> {
  const failed = await listFailed(client);
  const until = Date.now() + ASK_MS;
  return eachOf(failed, AT_ONCE, async ({ workflowId, runId, closeTime, startTime }): Promise<InboxItem> => {
    const agent = agentOf(workflowId);
    const why =
      reasons.get(runId) ??
      (Date.now() < until ? await inTime(client, () => failureOf(client, workflowId, runId)) : null);
    const item = { kind: 'failed', agent, since: (closeTime ?? startTime).toISOString() } as const;
    if (!why) return { ...item, text: 'has failed; why is not known now' };
    reasons.set(runId, why);
    const { code, message, next } = why;
    return { ...item, text: `has failed: ${code}`, failure: { code, message, next } };
  });
}

/** Newest first. */
async function listFailed(client: Client): Promise<WorkflowExecutionInfo[]> {
  const from = new Date(Date.now() - FAILED_MS).toISOString();
  const query = `WorkflowType = "${WORKFLOWS.agent}" AND ExecutionStatus = "Failed" AND CloseTime >= "${from}"`;
  const failed: WorkflowExecutionInfo[] = [];
  for await (const info of listWorkflows(client, { query, pageSize: MAX_LISTED })) {
    failed.push(info);
    if (failed.length === MAX_LISTED) break;
  }
  return failed;
}

/** Of this run: an agent that was started again under the same id may go on for days. Throws if it cannot be asked. */
async function failureOf(client: Client, workflowId: string, runId: string): Promise<HoldfastError> {
  try {
    await client.workflow.getHandle(workflowId, runId, { followRuns: false }).result();
    return new HoldfastError('internal', { reason: 'it says nothing' });
  } catch (err) {
    if (!(err instanceof WorkflowFailedError)) throw err;
    const how = err.cause?.message ?? err.message;
    return fromFailure(err.cause) ?? new HoldfastError('agent_ended', { agent: agentOf(workflowId), how });
  }
}

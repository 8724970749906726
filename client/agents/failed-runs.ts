// The runs of agents that have failed, from the server's visibility store, and why; needs no worker.
import { WorkflowFailedError, type Client } from '@temporalio/client';
import { fromFailure } from '../../contracts/errors/failure';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { WORKFLOWS } from '../../contracts/messages';
import { listWorkflows } from '../delivery/list-workflows';

export interface FailedRun {
  agent: string;
  workflowId: string;
  runId: string;
  /** ISO 8601. */
  failedAt: string;
}

/** Newest first, at most `most`. */
export async function listFailedRuns(client: Client, since: Date, most: number): Promise<FailedRun[]> {
  const query =
    `WorkflowType = "${WORKFLOWS.agent}" AND ExecutionStatus = "Failed" ` +
    `AND CloseTime >= "${since.toISOString()}"`;
  const failed: FailedRun[] = [];
  const listed = listWorkflows(client, { query, pageSize: most });
  for await (const { workflowId, runId, closeTime, startTime } of listed) {
    const agent = workflowId.replace(/^agent\//, '');
    failed.push({ agent, workflowId, runId, failedAt: (closeTime ?? startTime).toISOString() });
    if (failed.length === most) break;
  }
  return failed;
}

/** Of this run: an agent that was started again under the same id may go on for days. Throws if it cannot be asked. */
export async function failureOf(
  client: Client,
  { agent, workflowId, runId }: FailedRun,
): Promise<HoldfastError> {
  try {
    await client.workflow.getHandle(workflowId, runId, { followRuns: false }).result();
    return new HoldfastError('internal', { reason: 'it says nothing' });
  } catch (err) {
    if (!(err instanceof WorkflowFailedError)) throw err;
    const how = err.cause?.message ?? err.message;
    return fromFailure(err.cause) ?? new HoldfastError('agent_ended', { agent, how });
  }
}

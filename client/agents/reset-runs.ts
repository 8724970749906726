// Runs that the server's own reset has replaced. It closes them as terminated, and another run, which begins with a part of
// their history, goes on under the same id: neither waiters nor the parent are notified, because nothing has ended.
import { WorkflowNotFoundError, type Client, type WorkflowExecutionInfo } from '@temporalio/client';
import { describeWorkflow, type DescribedWorkflow } from '../delivery/list-workflows';

type Run = Pick<WorkflowExecutionInfo, 'workflowId' | 'runId'>;

/** The same for all runs that follow one another by continue-as-new or by resets; a new start begins another. */
export const firstRunOf = ({ runId, raw }: DescribedWorkflow): string =>
  raw.workflowExecutionInfo?.firstRunId || runId;

/** Whether another run goes on in the place of this one, which has ended. False if the server no longer knows. */
export async function wasReset(client: Client, { workflowId, runId }: Run): Promise<boolean> {
  try {
    const latest = await describeWorkflow(client, workflowId);
    if (latest.runId === runId) return false;
    return firstRunOf(latest) === firstRunOf(await describeWorkflow(client, workflowId, runId));
  } catch (err) {
    if (err instanceof WorkflowNotFoundError) return false;
    throw err;
  }
}

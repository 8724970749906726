// After a kill the server still hands workflow tasks to the dead worker's own queue first, and waits there for
// each. This tells it for every open workflow that the cache is gone.
import type { Client } from '@temporalio/client';

const AT_ONCE = 16;

/** Returns how many workflows were open. */
export async function resetStickyQueues(client: Client, taskQueue: string): Promise<number> {
  const { namespace } = client.options;
  const query = `TaskQueue = "${taskQueue}" AND ExecutionStatus = "Running"`;
  let pending: Promise<unknown>[] = [];
  let count = 0;
  for await (const { workflowId, runId } of client.workflow.list({ query })) {
    count += 1;
    // One that has ended meanwhile needs nothing.
    const reset = client.workflowService.resetStickyTaskQueue({
      namespace,
      execution: { workflowId, runId },
    });
    pending.push(reset.catch(() => undefined));
    if (pending.length >= AT_ONCE) {
      await Promise.all(pending);
      pending = [];
    }
  }
  await Promise.all(pending);
  return count;
}

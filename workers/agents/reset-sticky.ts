// After a kill the server still offers workflow tasks to the dead worker's own queue first, and waits there for each.
// This tells it, for the workflows that were in that worker's cache, that the cache is gone. Those that another worker
// has cached are left alone: it would have to replay them from their first event.
import type { Client } from '@temporalio/client';
import { forEachOpen, type OpenRun } from '../open-workflows';

/** A workflow at rest ends with what its last task has asked for. */
const EVENTS_AT_ONCE = 8;

/** Returns how many workflows workers with these instances, now dead, had in their caches. */
export async function resetStickyQueues(
  client: Client,
  taskQueue: string,
  instances: readonly string[],
): Promise<number> {
  if (instances.length === 0) return 0;
  const { namespace } = client.options;
  let count = 0;
  await forEachOpen(client, taskQueue, async (execution) => {
    const identity = await cachedBy(client, execution);
    if (!instances.some((instance) => identity?.endsWith(` ${instance}`))) return;
    await client.workflowService.resetStickyTaskQueue({ namespace, execution });
    count += 1;
  });
  return count;
}

/** The identity of the worker that completed the last workflow task: only it can have the workflow in its cache. */
async function cachedBy(client: Client, execution: OpenRun): Promise<string | undefined> {
  let nextPageToken: Uint8Array | undefined;
  do {
    const page = await client.workflowService.getWorkflowExecutionHistoryReverse({
      namespace: client.options.namespace,
      execution,
      maximumPageSize: EVENTS_AT_ONCE,
      nextPageToken,
    });
    for (const { workflowTaskCompletedEventAttributes: completed } of page.history?.events ?? [])
      if (completed) return completed.identity ?? undefined;
    nextPageToken = page.nextPageToken;
  } while (nextPageToken && nextPageToken.length > 0);
  return undefined;
}

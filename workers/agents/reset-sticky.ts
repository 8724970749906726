// After a kill the server still offers workflow tasks to the dead worker's own queue first, and waits there for each.
// This tells it for every open workflow that the cache is gone.
import type { Client } from '@temporalio/client';
import { forEachOpen } from '../open-workflows';

/** Returns how many workflows were open. */
export function resetStickyQueues(client: Client, taskQueue: string): Promise<number> {
  const { namespace } = client.options;
  return forEachOpen(client, taskQueue, (execution) =>
    client.workflowService.resetStickyTaskQueue({ namespace, execution }),
  );
}

// Whether a task queue has workers.
import type { Client } from '@temporalio/client';

const POLLER_SECONDS = 75;

/** Whether any worker has polled the queue recently; true if the server cannot say. */
export async function hasPollers(client: Client, name: string): Promise<boolean> {
  try {
    const namespace = client.options.namespace;
    // Workflow workers and activity workers poll different types of one queue.
    const answers = await Promise.all(
      [1, 2].map((taskQueueType) =>
        client.workflowService.describeTaskQueue({ namespace, taskQueue: { name }, taskQueueType }),
      ),
    );
    // The server lists a poller for minutes after its last poll, which lasts at most a minute.
    const oldest = Date.now() / 1_000 - POLLER_SECONDS;
    return answers.some(({ pollers }) =>
      (pollers ?? []).some((p) => Number(p.lastAccessTime?.seconds ?? 0) > oldest),
    );
  } catch {
    return true;
  }
}

// Walks the open workflows of a task queue, several at once: what a killed worker left behind is found there.
import type { Client } from '@temporalio/client';

const AT_ONCE = 16;

export interface OpenRun {
  workflowId: string;
  runId: string;
}

/** Resolves with how many there were. One that cannot be seen to, as it has ended meanwhile, stops nothing. */
export async function forEachOpen(
  client: Client,
  taskQueue: string,
  seeTo: (run: OpenRun) => Promise<unknown>,
): Promise<number> {
  const query = `TaskQueue = "${taskQueue}" AND ExecutionStatus = "Running"`;
  let pending: Promise<unknown>[] = [];
  let count = 0;
  for await (const { workflowId, runId } of client.workflow.list({ query })) {
    count += 1;
    pending.push(seeTo({ workflowId, runId }).catch(() => undefined));
    if (pending.length < AT_ONCE) continue;
    await Promise.all(pending);
    pending = [];
  }
  await Promise.all(pending);
  return count;
}

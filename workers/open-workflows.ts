// Visits the open workflows of a task queue, several at once, to find what a killed worker left behind.
import type { Client } from '@temporalio/client';
import { listWorkflows } from '../client/delivery/list-workflows';

const AT_ONCE = 16;

export interface OpenRun {
  workflowId: string;
  runId: string;
}

export interface Search {
  taskQueue: string;
  /** A condition of a visibility query. Default: all. */
  only?: string;
  /** Ends the search: the rest is not visited. */
  signal?: AbortSignal | undefined;
}

/** Resolves with their number. A failure with one, for example because it has ended meanwhile, does not stop the rest. */
export async function forEachOpen(
  client: Client,
  { taskQueue, only, signal }: Search,
  seeTo: (run: OpenRun) => Promise<unknown>,
): Promise<number> {
  const all = `TaskQueue = "${taskQueue}" AND ExecutionStatus = "Running"`;
  const query = only === undefined ? all : `${all} AND ${only}`;
  let pending: Promise<unknown>[] = [];
  let count = 0;
  for await (const { workflowId, runId } of listWorkflows(client, { query })) {
    count += 1;
    pending.push(seeTo({ workflowId, runId }).catch(() => undefined));
    if (pending.length < AT_ONCE) continue;
    await Promise.all(pending);
    if (signal?.aborted) return count;
    pending = [];
  }
  await Promise.all(pending);
  return count;
}

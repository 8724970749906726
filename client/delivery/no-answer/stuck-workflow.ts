// Finds the workflow that holds up an answer: its tasks fail, or time out, again and again.
import type { Client } from '@temporalio/client';
import { describe, type Described } from './described';

const LAST_EVENTS = 50;
/** An agent, its turn, a sub-agent of that, its turn. */
const MAX_DEPTH = 3;

export interface Stuck {
  got: string;
  attempts: number;
  /** The same as long as no task of the workflow was completed. */
  progress: string;
  /** Its worker reports a failure, or takes the task and never answers. */
  how: 'fails' | 'times out';
}

/**
 * The workflow, or one that it waits for, whose current task was tried before. Its children count: an agent whose turn is
 * stuck is fine itself, but would never answer.
 */
export async function findStuck(
  client: Client,
  { workflowExecutionInfo: info, pendingWorkflowTask, pendingChildren }: Described,
  depth = 0,
): Promise<Stuck | undefined> {
  const attempts = pendingWorkflowTask?.attempt ?? 0;
  const { workflowId, runId } = info?.execution ?? {};
  if (attempts > 1 && workflowId && runId) {
    const last = await lastTask(client, { workflowId, runId });
    if (last) return { got: workflowId, attempts, ...last };
  }
  if (depth >= MAX_DEPTH) return undefined;
  for (const { workflowId: child } of pendingChildren ?? []) {
    const found = child ? await describe(client, child) : undefined;
    const stuck = found && (await findStuck(client, found, depth + 1));
    if (stuck) return stuck;
  }
  return undefined;
}

/**
 * How the task's first attempt ended: later ones leave no event. Nor does the time-out of a task that the server had not
 * written down yet, for example of an update. Undefined if the server cannot say.
 */
async function lastTask(
  { workflowService, options: { namespace } }: Client,
  execution: { workflowId: string; runId: string },
): Promise<Pick<Stuck, 'how' | 'progress'> | undefined> {
  const request = { namespace, execution, maximumPageSize: LAST_EVENTS };
  const answer = await workflowService.getWorkflowExecutionHistoryReverse(request).catch(() => undefined);
  if (!answer) return undefined;
  const events = answer.history?.events ?? [];
  const completed = events.find((event) => event.workflowTaskCompletedEventAttributes);
  const ended = events.find(
    (event) =>
      event.workflowTaskFailedEventAttributes ??
      event.workflowTaskTimedOutEventAttributes ??
      event.workflowTaskCompletedEventAttributes,
  );
  const how = ended?.workflowTaskFailedEventAttributes ? 'fails' : 'times out';
  return { how, progress: `${execution.runId} ${String(completed?.eventId)}` };
}

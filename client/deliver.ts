// Sends a message until the server has answered: the same id again gives the recorded answer, so a server
// that restarts or a session that continues as new costs the caller time and nothing else.
import { isGrpcServiceError, WorkflowNotFoundError, type Client } from '@temporalio/client';
import { setTimeout as delay } from 'node:timers/promises';
import { HoldfastError, reasonOf } from '../contracts/errors';
import { fromFailure } from '../contracts/failure';
import { MAIN_TASK_QUEUE } from '../contracts/ids';

/** gRPC status codes of a server that is away for a moment. */
const UNAVAILABLE = [4, 14];
const PATIENCE_MS = 60_000;
const PAUSE_MS = 100;
const WORKER_CHECK_MS = 4_000;

export interface Delivery {
  client: Client;
  /** Who is sent to, for errors. */
  what: string;
  address: string;
  /** Whether no answer can come without a worker; what waits for a result may wait for one. */
  needsWorker: boolean;
}

/**
 * Throws the catalogue's error that the other side answered with; `no_server` after a minute without one;
 * `no_worker` when nobody polls a task queue; `not_found` for a workflow that is not there.
 */
export async function deliver<T>(to: Delivery, send: () => Promise<T>): Promise<T> {
  const until = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await withWorkerCheck(to, send);
    } catch (err) {
      const known = fromFailure(err);
      const isPassing =
        known?.code === 'draining' || known?.code === 'session_closed' || isAway(err) || wasCutOff(err);
      if (isPassing && Date.now() < until) await delay(PAUSE_MS);
      else if (known) throw known;
      else if (isAway(err))
        throw new HoldfastError('no_server', { address: to.address, reason: reasonOf(err) });
      else if (err instanceof WorkflowNotFoundError)
        throw new HoldfastError('not_found', { what: to.what, got: err.workflowId });
      else throw err;
    }
  }
}

const isAway = (err: unknown): boolean => {
  const cause = err instanceof Error && err.cause ? err.cause : err;
  return isGrpcServiceError(cause) && UNAVAILABLE.includes(cause.code);
};

/** The workflow ended or continued as new under an accepted update: its id finds the outcome. */
const wasCutOff = (err: unknown): boolean =>
  err instanceof Error && JSON.stringify(err.cause ?? {}).includes('AcceptedUpdateCompletedWorkflow');

/** Without a worker Temporal waits for ever: after a few seconds we look whether there is one. */
async function withWorkerCheck<T>(to: Delivery, send: () => Promise<T>): Promise<T> {
  const over = new AbortController();
  try {
    // Aborted with it, or a call that nobody waits for would go on being tried again.
    const sent = to.client.withAbortSignal(over.signal, send);
    return await Promise.race([sent, missingWorker(to, over.signal)]);
  } finally {
    over.abort();
  }
}

async function missingWorker(
  { client, needsWorker, address }: Delivery,
  signal: AbortSignal,
): Promise<never> {
  await delay(WORKER_CHECK_MS, undefined, { signal });
  if (needsWorker && !(await hasPollers(client, MAIN_TASK_QUEUE))) {
    throw new HoldfastError('no_worker', { taskQueue: MAIN_TASK_QUEUE, address });
  }
  return new Promise<never>(() => undefined);
}

/** Whether any worker has polled the queue lately; true where the server cannot say. */
export async function hasPollers(client: Client, name: string): Promise<boolean> {
  try {
    const namespace = client.options.namespace;
    // Workflow workers and activity workers poll different types of one queue.
    const answers = await Promise.all(
      [1, 2].map((taskQueueType) =>
        client.workflowService.describeTaskQueue({ namespace, taskQueue: { name }, taskQueueType }),
      ),
    );
    return answers.some(({ pollers }) => (pollers ?? []).length > 0);
  } catch {
    return true;
  }
}

// Sends a message until the server has answered: the same id again gives the recorded answer, so a server
// that restarts or a session that continues as new costs the caller time and nothing else.
import { isGrpcServiceError, WorkflowNotFoundError, type Client } from '@temporalio/client';
import { setTimeout as delay } from 'node:timers/promises';
import { HoldfastError, reasonOf } from '../contracts/errors';
import { fromFailure } from '../contracts/failure';

/** gRPC status codes of a server that is away for a moment. */
const UNAVAILABLE = [4, 14];
const PATIENCE_MS = 60_000;
/** A worker that was killed in a task leaves it failed for so long at the most. */
const FAILING_MS = 12_000;
const PAUSE_MS = 100;
/** A call that waited this long was accepted: its patience begins anew. */
const HEARD_MS = 10_000;
const WORKER_CHECK_MS = 4_000;
/** A server that was just away knows no worker yet, and who starts it again starts a worker next. */
const RESTART_MS = 20_000;
/** Two questions to a server that is there take less. */
const RESTARTED_MS = 500;
const POLLER_SECONDS = 75;
/** A task that fails so often in a row is not a passing fault. */
const STUCK_ATTEMPTS = 4;
/** A task that was not answered in its time, and is still there so many looks on. */
const SILENT_LOOKS = 3;
const LAST_EVENTS = 10;
/** An agent, its turn, a sub-agent of that, its turn. */
const MAX_DEPTH = 3;

/** The server that a client speaks to, and who serves there. */
export interface ServerFacts {
  address: string;
  /** Task queue of the agents that are started. */
  queue: string;
  /** For who sees the worker's process: the catalogue's error for one that is there and does not answer. */
  findSilentWorker?: (() => HoldfastError | undefined) | undefined;
  /** This process starts the queue's worker again when it dies, and tells its user where it cannot. */
  keepsWorker?: boolean | undefined;
}

export interface Delivery {
  client: Client;
  /** Who is sent to, for errors. */
  what: string;
  workflowId: string;
  server: ServerFacts;
  /** Whether no answer can come without a worker; what waits for a result may wait for one. */
  needsWorker: boolean;
}

/**
 * Throws the catalogue's error that the other side answered with; `no_server` after a minute without one;
 * `no_worker` when nobody polls a task queue; `not_found` for a workflow that is not there.
 */
export async function deliver<T>(to: Delivery, send: () => Promise<T>): Promise<T> {
  // Patience begins with the first failure: what was sent may have been waited for much longer before.
  let failingSince: number | undefined;
  for (;;) {
    const sentAt = Date.now();
    try {
      return await withWorkerCheck(to, send, failingSince === undefined ? 0 : RESTART_MS);
    } catch (err) {
      const now = Date.now();
      if (failingSince === undefined || (wasSentOn(err) && now - sentAt > HEARD_MS)) failingSince = now;
      if (now - failingSince > (await patienceMs(err, to))) throw explained(err, to);
      await delay(PAUSE_MS);
    }
  }
}

/** The workflow was there, and has sent us to its next run. */
const wasSentOn = (err: unknown): boolean => fromFailure(err)?.code === 'draining' || wasCutOff(err);

/** How long a failure may be a passing one; what it was sent with is not lost, the id finds it again. */
async function patienceMs(err: unknown, { client, workflowId }: Delivery): Promise<number> {
  const code = fromFailure(err)?.code;
  if (code === 'draining' || code === 'session_closed' || isAway(err) || wasCutOff(err)) return PATIENCE_MS;
  if (failsItsTasks(err)) return FAILING_MS;
  // Sent to a run that ended at that moment to continue as new: the server says "not found" of that run.
  return err instanceof WorkflowNotFoundError && (await isRunning(client, workflowId)) ? PATIENCE_MS : -1;
}

async function isRunning(client: Client, workflowId: string): Promise<boolean> {
  const found = await client.workflow
    .getHandle(workflowId)
    .describe()
    .catch(() => undefined);
  return found?.status.name === 'RUNNING';
}

function explained(err: unknown, { server, what, workflowId }: Delivery): unknown {
  if (isAway(err)) return new HoldfastError('no_server', { address: server.address, reason: reasonOf(err) });
  if (failsItsTasks(err))
    return new HoldfastError('workflow_stuck', { got: workflowId, attempts: 'several' });
  if (err instanceof WorkflowNotFoundError)
    return new HoldfastError('not_found', { what, got: err.workflowId });
  return fromFailure(err) ?? err;
}

/** The server's own word for a workflow whose tasks fail again and again. */
const failsItsTasks = (err: unknown): boolean => /Workflow Task in failed state/.test(messagesOf(err));

const messagesOf = (err: unknown): string =>
  err instanceof Error ? `${err.message} ${messagesOf(err.cause)}` : '';

const isAway = (err: unknown): boolean => {
  const cause = err instanceof Error && err.cause ? err.cause : err;
  return isGrpcServiceError(cause) && UNAVAILABLE.includes(cause.code);
};

/**
 * The workflow ended or continued as new under an update, accepted or not yet taken (server types of Temporal's
 * update registry): its id finds the outcome, or runs it in the next run.
 */
const CUT_OFF = /AcceptedUpdateCompletedWorkflow|UnprocessedUpdate/;
const wasCutOff = (err: unknown): boolean =>
  err instanceof Error && CUT_OFF.test(JSON.stringify(err.cause ?? {}));

/** Without a worker, or with one that fails, Temporal waits for ever: after a few seconds we look. */
async function withWorkerCheck<T>(to: Delivery, send: () => Promise<T>, graceMs: number): Promise<T> {
  const over = new AbortController();
  try {
    // Both are aborted with it: a call that nobody waits for would go on being tried again, on a closed connection, too.
    return await to.client.withAbortSignal(over.signal, () =>
      Promise.race([send(), unableToAnswer(to, graceMs, over.signal)]),
    );
  } finally {
    over.abort();
  }
}

async function unableToAnswer(
  { client, workflowId, needsWorker, server }: Delivery,
  graceMs: number,
  signal: AbortSignal,
): Promise<never> {
  let until = Date.now() + graceMs;
  let silentLooks = 0;
  for (;;) {
    await delay(WORKER_CHECK_MS, undefined, { signal });
    const silent = needsWorker && server.findSilentWorker?.();
    if (silent) throw silent;
    const askedAt = Date.now();
    const taskQueue = (needsWorker && (await queueOf(client, workflowId))) || server.queue;
    const isPolled = !needsWorker || (await hasPollers(client, taskQueue));
    // It was away meanwhile: what it knows of workers begins anew.
    if (Date.now() - askedAt > RESTARTED_MS) until = Date.now() + RESTART_MS;
    const isExpected = server.keepsWorker && taskQueue === server.queue;
    if (Date.now() >= until && !isPolled && !isExpected)
      throw new HoldfastError('no_worker', { taskQueue, address: server.address });
    const stuck = await findStuck(client, workflowId);
    if (stuck?.how === 'fails') throw new HoldfastError('workflow_stuck', { ...stuck });
    // One that was killed a moment ago has left its task like that, too: the next worker takes it in between.
    silentLooks = stuck && needsWorker ? silentLooks + 1 : 0;
    if (stuck && silentLooks >= SILENT_LOOKS && Date.now() >= until)
      throw new HoldfastError('worker_silent', { taskQueue, got: stuck.got });
  }
}

interface Stuck {
  got: string;
  attempts: number;
  /** Its worker says what is wrong with it, or takes it and says nothing. */
  how: 'fails' | 'times out';
}

/**
 * The workflow, or one that it waits for, whose present task was tried too often. Its children count: an agent
 * whose turn is stuck is well itself, and would be waited for in vain.
 */
async function findStuck(client: Client, workflowId: string, depth = 0): Promise<Stuck | undefined> {
  try {
    const { raw, runId } = await client.workflow.getHandle(workflowId).describe();
    const attempts = raw.pendingWorkflowTask?.attempt ?? 0;
    if (attempts > 1) {
      const how = await outcomeOfLastTask(client, { workflowId, runId });
      if (how === 'times out' || attempts >= STUCK_ATTEMPTS) return { got: workflowId, attempts, how };
    }
    if (depth >= MAX_DEPTH) return undefined;
    for (const child of raw.pendingChildren ?? []) {
      const stuck = child.workflowId && (await findStuck(client, child.workflowId, depth + 1));
      if (stuck) return stuck;
    }
  } catch {
    // No such workflow, or the server cannot say: others notice that.
  }
  return undefined;
}

/** The first attempt of a task is in the history; those that follow are not. */
async function outcomeOfLastTask(
  { workflowService, options: { namespace } }: Client,
  execution: { workflowId: string; runId: string },
): Promise<Stuck['how']> {
  const request = { namespace, execution, maximumPageSize: LAST_EVENTS };
  const { history } = await workflowService.getWorkflowExecutionHistoryReverse(request);
  const last = history?.events?.find(
    (event) => event.workflowTaskFailedEventAttributes ?? event.workflowTaskTimedOutEventAttributes,
  );
  return last?.workflowTaskTimedOutEventAttributes ? 'times out' : 'fails';
}

/** Undefined where the server does not know the workflow, or cannot say. */
async function queueOf(client: Client, workflowId: string): Promise<string | undefined> {
  try {
    return (await client.workflow.getHandle(workflowId).describe()).taskQueue;
  } catch {
    return undefined;
  }
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
    // The server lists a poller for minutes after its last poll, which lasts a minute at the most.
    const oldest = Date.now() / 1_000 - POLLER_SECONDS;
    return answers.some(({ pollers }) =>
      (pollers ?? []).some((p) => Number(p.lastAccessTime?.seconds ?? 0) > oldest),
    );
  } catch {
    return true;
  }
}

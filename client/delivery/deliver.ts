// Sends a message until the server has answered: repeating the id returns the recorded answer, so a server
// that restarts or a session that continues as new costs the caller only time.
import { isGrpcDeadlineError, WorkflowNotFoundError, type Client } from '@temporalio/client';
import { setTimeout as delay } from 'node:timers/promises';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import { fromFailure } from '../../contracts/errors/failure';
import { awayReason } from '../../contracts/errors/server-away';
import { contactOf } from './closed-connection';
import { requestFailure } from './request-failure';

/** Temporal's WorkflowExecutionStatus (temporal/api/enums/v1/workflow.proto). */
const RUNNING = 1;
export const PATIENCE_MS = 60_000;
/** The longest that a task stays failed after its worker was killed. */
const FAILING_MS = 12_000;
const PAUSE_MS = 100;
/** What closed the session may have cancelled the call, too: that learns of it with a heartbeat, up to four seconds later. */
const CUT_OFF_MS = 5_000;
/** A call that waited this long was accepted: its patience starts again. */
const HEARD_MS = 10_000;
const WORKER_CHECK_MS = 4_000;
/** Between two looks at workflows that have nothing wrong with them: a client may wait for thousands, for hours. */
const LONGEST_LOOK_MS = 30_000;
/** How much longer each pause is than the one before. A wait for a result is meant to be long: it has second thoughts later. */
const GROWTH = { answer: 2, result: 8 };
/** Nobody likes to wait longer than this without a word. */
const DELAY_MS = 2_000;
/** A server that was just restarted knows no worker yet; whatever restarts it starts a worker next. */
const RESTART_MS = 20_000;
/** Timers may be that early. */
const EARLY_MS = 50;
/** Two requests to a server that is up take less: for connections of others, of which we know nothing else. */
const RESTARTED_MS = 500;
const POLLER_SECONDS = 75;
/** A task that fails this often in a row is not a temporary fault. */
const STUCK_ATTEMPTS = 4;
/** A task that is still pending after it timed out, or a query without an answer, at this many checks: the worker is silent. */
const SILENT_LOOKS = 3;
const LAST_EVENTS = 50;
/** An agent, its turn, a sub-agent of that, its turn. */
const MAX_DEPTH = 3;

/** The server that a client talks to, and the workers there. */
export interface ServerFacts {
  address: string;
  /** Task queue for agents that are started. */
  queue: string;
  /** For clients that can see the worker's process: the catalogue's error if it does not answer, or cannot be restarted. */
  findSilentWorker?: (() => HoldfastError | undefined) | undefined;
  /** This process restarts the queue's worker when it dies. If it cannot, its user or `findSilentWorker` is told. */
  keepsWorker?: boolean | undefined;
  /** How long a request is repeated while the server is away. Default 60,000. */
  patienceMs?: number | undefined;
  /** Called once for each message that waits longer than usual, with what it waits for. */
  onDelay?: ((what: string) => void) | undefined;
}

export interface Delivery {
  client: Client;
  /** The recipient, for errors. */
  what: string;
  workflowId: string;
  server: ServerFacts;
  /** Whether an answer needs a worker; a call that waits for a result may wait for a worker, too. */
  needsWorker: boolean;
  /** A worker that is there answers it at once, and the server keeps no task of it that could be seen to time out. */
  isQuery?: boolean | undefined;
  /** Once it aborts, nothing is sent any more: the sender's work was cut off. */
  signal?: AbortSignal | undefined;
}

/**
 * Throws the catalogue's error that the other side answered with; `no_server` after a minute (`patienceMs`) without one;
 * `no_worker` if nobody polls a task queue; `not_found` for a workflow that does not exist or has ended;
 * `namespace_missing`; the signal's reason once that aborts.
 */
export async function deliver<T>(to: Delivery, send: () => Promise<T>): Promise<T> {
  // Patience starts with the first failure: the call may have waited much longer before that.
  let failingSince: number | undefined;
  let isTold = false;
  for (;;) {
    to.signal?.throwIfAborted();
    const sentAt = performance.now();
    try {
      return await withWorkerCheck(to, send, failingSince === undefined ? 0 : RESTART_MS);
    } catch (err) {
      const now = performance.now();
      if (failingSince === undefined || (wasSentOn(err) && now - sentAt > HEARD_MS)) failingSince = now;
      // Asked once for both: a workflow that starts between two looks would be told as one that has ended.
      const found =
        err instanceof WorkflowNotFoundError ? await describe(to.client, to.workflowId) : undefined;
      const failingMs = now - failingSince;
      const told = failingMs > patienceMs(err, to, found) && (await explained(err, to, found, failingMs));
      if (told) throw told as Error;
      if (!isTold && failingMs > DELAY_MS) {
        isTold = true;
        to.server.onDelay?.(isAway(err) ? `the server at ${to.server.address}` : reasonOf(err));
      }
      const pauseMs = to.signal && fromFailure(err)?.code === 'session_closed' ? CUT_OFF_MS : PAUSE_MS;
      await delay(pauseMs, undefined, { signal: to.signal }).catch(() => undefined);
    }
  }
}

/** The workflow existed, and has sent us to its next run. */
const wasSentOn = (err: unknown): boolean => fromFailure(err)?.code === 'draining' || wasCutOff(err);

/**
 * How long a failure may be temporary; nothing that was sent is lost, since the id finds it again.
 * @param found what the server knows of a workflow to which a message was not delivered
 */
function patienceMs(err: unknown, { server }: Delivery, found: Described | undefined): number {
  const code = fromFailure(err)?.code;
  if (isAway(err)) return server.patienceMs ?? PATIENCE_MS;
  if (code === 'draining' || code === 'session_closed' || wasCutOff(err)) return PATIENCE_MS;
  if (failsItsTasks(err)) return FAILING_MS;
  // Sent to a run that was just continuing as new: the server reports "not found" for that run. Or it has only now started.
  return Number(found?.workflowExecutionInfo?.status) === RUNNING ? PATIENCE_MS : -1;
}

type Described = Awaited<ReturnType<Client['workflowService']['describeWorkflowExecution']>>;

/**
 * Undefined if the server does not know the workflow, or cannot say. As the server says it: to decode memo, attributes and
 * summary, which nobody reads here, costs as much as the request.
 * @param ofFrozen throws `no_server` if it does not answer in time, where the client has a deadline for that
 */
const describe = (
  client: Client,
  workflowId: string,
  ofFrozen?: ServerFacts,
): Promise<Described | undefined> =>
  client.workflowService
    .describeWorkflowExecution({ namespace: client.options.namespace, execution: { workflowId } })
    .catch((err: unknown) => {
      if (ofFrozen && isGrpcDeadlineError(err))
        throw new HoldfastError('no_server', { address: ofFrozen.address, reason: reasonOf(err) });
      return undefined;
    });

const queueOf = (found: Described | undefined): string | undefined =>
  found?.workflowExecutionInfo?.taskQueue ?? undefined;

/** Undefined for a workflow that goes on, which has some more time. */
async function explained(
  err: unknown,
  to: Delivery,
  found: Described | undefined,
  failingMs: number,
): Promise<unknown> {
  const { client, server, what, workflowId } = to;
  if (isAway(err)) return new HoldfastError('no_server', { address: server.address, reason: reasonOf(err) });
  if (failsItsTasks(err)) {
    // The server says the same of a task that a stopped worker took and never answered.
    const failing = await describe(client, workflowId);
    const stuck = failing && (await findStuck(client, failing));
    // On a busy machine several tasks may time out. The server still tells of them while the next ones are completed.
    if (failing && !stuck && failingMs <= PATIENCE_MS) return undefined;
    return stuck?.how === 'times out'
      ? new HoldfastError('worker_silent', { taskQueue: queueOf(failing) ?? server.queue, got: stuck.got })
      : new HoldfastError('workflow_stuck', { got: workflowId, attempts: stuck?.attempts ?? 'several' });
  }
  if (err instanceof WorkflowNotFoundError) {
    return new HoldfastError('not_found', { what, got: err.workflowId, ...(found && { ended: true }) });
  }
  return fromFailure(err) ?? requestFailure(err, server.address) ?? err;
}

/** The server's own term for a workflow whose tasks fail repeatedly. */
const failsItsTasks = (err: unknown): boolean => /Workflow Task in failed state/.test(messagesOf(err));

const messagesOf = (err: unknown): string =>
  err instanceof Error ? `${err.message} ${messagesOf(err.cause)}` : '';

const isAway = (err: unknown): boolean => awayReason(err) !== undefined;

/**
 * The workflow ended or continued as new during an update, accepted or not yet accepted (server types of Temporal's
 * update registry): the update's id finds the outcome, or runs it in the next run.
 */
const CUT_OFF = /AcceptedUpdateCompletedWorkflow|UnprocessedUpdate/;
const wasCutOff = (err: unknown): boolean =>
  err instanceof Error && CUT_OFF.test(JSON.stringify(err.cause ?? {}));

/** Without a worker, or with a failing one, Temporal waits forever: after a few seconds we check. */
async function withWorkerCheck<T>(to: Delivery, send: () => Promise<T>, graceMs: number): Promise<T> {
  const over = new AbortController();
  try {
    // Aborts both: a call that nobody waits for would otherwise be retried forever, even on a closed connection.
    return await to.client.withAbortSignal(over.signal, () =>
      Promise.race([send(), unableToAnswer(to, graceMs, over.signal)]),
    );
  } finally {
    over.abort();
  }
}

async function unableToAnswer(
  { client, workflowId, needsWorker, isQuery = false, server }: Delivery,
  graceMs: number,
  signal: AbortSignal,
): Promise<never> {
  let until = performance.now() + graceMs;
  let silentLooks = 0;
  /** When the server was first asked of those times that it has not answered. */
  let silentSince: number | undefined;
  let progress: string | undefined;
  let isTold = false;
  let pauseMs = WORKER_CHECK_MS;
  let lookAt = performance.now() + pauseMs;
  for (;;) {
    await delay(WORKER_CHECK_MS, undefined, { signal });
    const silent = needsWorker && server.findSilentWorker?.();
    if (silent) throw silent;
    const askedAt = performance.now();
    if (askedAt < lookAt - EARLY_MS) continue;
    let found: Described | undefined;
    try {
      found = await describe(client, workflowId, server);
    } catch (err) {
      silentSince ??= askedAt;
      const now = performance.now();
      if (now - silentSince > (server.patienceMs ?? PATIENCE_MS)) throw err;
      until = now + RESTART_MS;
      if (!isTold) server.onDelay?.(`the server at ${server.address}`);
      isTold = true;
      continue;
    }
    silentSince = undefined;
    const taskQueue = (needsWorker && queueOf(found)) || server.queue;
    const isPolled = !needsWorker || (await hasPollers(client, taskQueue));
    // The server was away in the meantime: it must learn about its workers again.
    const { lostAt } = contactOf(client.connection);
    if (lostAt !== undefined) until = Math.max(until, lostAt + RESTART_MS);
    else if (performance.now() - askedAt > RESTARTED_MS) until = performance.now() + RESTART_MS;
    const isExpected = server.keepsWorker && taskQueue === server.queue;
    if (performance.now() >= until && !isPolled && !isExpected)
      throw new HoldfastError('no_worker', { taskQueue, address: server.address });
    if (!isPolled && !isTold) server.onDelay?.(`a worker of task queue ${taskQueue}`);
    isTold ||= !isPolled;
    const stuck = found && (await findStuck(client, found));
    if (stuck?.how === 'fails' && stuck.attempts >= STUCK_ATTEMPTS)
      throw new HoldfastError('workflow_stuck', { got: stuck.got, attempts: stuck.attempts });
    // A worker that was just killed leaves its task like that, too: the next worker completes it between two checks.
    // Where workers are killed again and again, tasks are completed in between.
    if (stuck?.progress !== progress) silentLooks = 0;
    progress = stuck?.progress;
    // Where this process restarts the worker, it looks at the worker's process, too: the next may need long to start.
    const isUnanswered = stuck ? stuck.how === 'times out' : isQuery && isPolled;
    const isSilent = needsWorker && !isExpected && isUnanswered;
    silentLooks = isSilent ? silentLooks + 1 : 0;
    if (silentLooks >= SILENT_LOOKS && performance.now() >= until)
      throw new HoldfastError('worker_silent', { taskQueue, got: stuck?.got ?? workflowId });
    const isSuspicious = stuck !== undefined || !isPolled;
    const longerMs = pauseMs * (needsWorker ? GROWTH.answer : GROWTH.result);
    pauseMs = isSuspicious ? WORKER_CHECK_MS : Math.min(longerMs, LONGEST_LOOK_MS);
    lookAt = performance.now() + pauseMs;
  }
}

interface Stuck {
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
async function findStuck(
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

// Sends a message until the server has answered: repeating the id returns the recorded answer, so a server
// that restarts or a session that continues as new costs the caller only time.
import { WorkflowNotFoundError } from '@temporalio/client';
import { setTimeout as delay } from 'node:timers/promises';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import { fromFailure } from '../../contracts/errors/failure';
import { awayReason } from '../../contracts/errors/server-away';
import { PATIENCE_MS } from '../server-facts';
import { describe, queueOf, type Described } from './no-answer/described';
import { findStuck } from './no-answer/stuck-workflow';
import { RESTART_MS, WorkerWatch, type Watched } from './no-answer/worker-watch';
import { requestFailure } from './request-failure';

/** Temporal's WorkflowExecutionStatus (temporal/api/enums/v1/workflow.proto). */
const RUNNING = 1;
/** The longest that a task stays failed after its worker was killed. */
const FAILING_MS = 12_000;
const PAUSE_MS = 100;
/** What closed the session may have cancelled the call, too: that learns of it with a heartbeat, up to four seconds later. */
const CUT_OFF_MS = 5_000;
/** A call that waited this long was accepted: its patience starts again. */
const HEARD_MS = 10_000;
/** A person should not wait longer than this without a word. */
const DELAY_MS = 2_000;

export interface Delivery extends Watched {
  /** The recipient, for errors. */
  what: string;
  /** Once it aborts, nothing is sent any more: the sender's work was cut off. */
  signal?: AbortSignal | undefined;
}

/**
 * Throws the catalogue's error that the other side answered with; `no_server` after a minute (`patienceMs`) without one;
 * `no_worker` if no worker polls a task queue; `not_found` for a workflow that does not exist or has ended;
 * `namespace_missing`; the signal's reason once that aborts.
 */
export async function deliver<T>(to: Delivery, send: () => Promise<T>): Promise<T> {
  // Patience starts with the first failure: the call may have waited much longer before that.
  let failingSince: number | undefined;
  let isReported = false;
  for (;;) {
    to.signal?.throwIfAborted();
    const sentAt = performance.now();
    try {
      return await withWorkerCheck(to, send, failingSince === undefined ? 0 : RESTART_MS);
    } catch (err) {
      const now = performance.now();
      if (failingSince === undefined || (wasSentOn(err) && now - sentAt > HEARD_MS)) failingSince = now;
      // Asked once for both: a workflow that starts between two looks would be reported as one that has ended.
      const found =
        err instanceof WorkflowNotFoundError ? await describe(to.client, to.workflowId) : undefined;
      const failingMs = now - failingSince;
      const explanation =
        failingMs > patienceMs(err, to, found) && (await explained(err, to, found, failingMs));
      if (explanation) throw explanation as Error;
      if (!isReported && failingMs > DELAY_MS) {
        isReported = true;
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
    // On a busy machine several tasks may time out. The server still reports them while the next ones are completed.
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
    // Aborts both: a call that is not waited for would otherwise be retried forever, even on a closed connection.
    return await to.client.withAbortSignal(over.signal, () =>
      Promise.race([send(), new WorkerWatch(to, graceMs).untilUnable(over.signal)]),
    );
  } finally {
    over.abort();
  }
}

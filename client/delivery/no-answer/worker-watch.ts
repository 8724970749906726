// Watches a call without an answer: Temporal itself would wait for a worker forever.
import type { Client } from '@temporalio/client';
import { setTimeout as delay } from 'node:timers/promises';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import { PATIENCE_MS, type ServerFacts } from '../../server-facts';
import { contactOf } from '../closed-connection';
import { describe, queueOf, type Described } from './described';
import { hasPollers } from './has-pollers';
import { findStuck, type Stuck } from './stuck-workflow';

const WORKER_CHECK_MS = 4_000;
/** Between two looks at workflows that have nothing wrong with them: a client may wait for thousands, for hours. */
const LONGEST_LOOK_MS = 30_000;
/** How much longer each pause is than the one before. A wait for a result is meant to be long: it has second thoughts later. */
const GROWTH = { answer: 2, result: 8 };
/** A server that was just restarted knows no worker yet; whatever restarts it starts a worker next. */
export const RESTART_MS = 20_000;
/** Timers may be that early. */
const EARLY_MS = 50;
/** Two requests to a server that is up take less: for connections of others, of which we know nothing else. */
const RESTARTED_MS = 500;
/** A task that fails this often in a row is not a temporary fault. */
const STUCK_ATTEMPTS = 4;
/** A task that is still pending after it timed out, or a query without an answer, at this many checks: the worker is silent. */
const SILENT_LOOKS = 3;

/** The workflow that is to answer. */
export interface Watched {
  client: Client;
  workflowId: string;
  server: ServerFacts;
  /** Whether an answer needs a worker; a call that waits for a result may wait for a worker, too. */
  needsWorker: boolean;
  /** A worker that is there answers it at once, and the server keeps no task of it that could be seen to time out. */
  isQuery?: boolean | undefined;
}

/** Looks at the server and the workers that a call waits for, and remembers enough to distinguish a late worker from a silent one. */
export class WorkerWatch {
  /** Until then, workers have time to appear. */
  private graceUntil: number;
  private silentLooks = 0;
  /** When the server was first asked of those times that it has not answered. */
  private silentSince: number | undefined;
  private progress: string | undefined;
  private isReported = false;
  private pauseMs = WORKER_CHECK_MS;
  private lookAt = performance.now() + WORKER_CHECK_MS;

  constructor(
    private readonly to: Watched,
    graceMs: number,
  ) {
    this.graceUntil = performance.now() + graceMs;
  }

  /** Throws once nothing that could answer is left, or the signal aborts. */
  async untilUnable(signal: AbortSignal): Promise<never> {
    const { client, workflowId, needsWorker, server } = this.to;
    for (;;) {
      await delay(WORKER_CHECK_MS, undefined, { signal });
      const silent = needsWorker && server.findSilentWorker?.();
      if (silent) throw silent;
      const askedAt = performance.now();
      if (askedAt < this.lookAt - EARLY_MS) continue;
      let found: Described | undefined;
      try {
        found = await describe(client, workflowId, server);
      } catch (err) {
        this.onSilentServer(err, askedAt);
        continue;
      }
      this.silentSince = undefined;
      await this.lookAtWorkers(found, askedAt);
    }
  }

  private onSilentServer(err: unknown, askedAt: number): void {
    const { server } = this.to;
    this.silentSince ??= askedAt;
    const now = performance.now();
    if (now - this.silentSince > (server.patienceMs ?? PATIENCE_MS)) throw err;
    this.graceUntil = now + RESTART_MS;
    this.report(`the server at ${server.address}`);
  }

  private async lookAtWorkers(found: Described | undefined, askedAt: number): Promise<void> {
    const { client, needsWorker, server } = this.to;
    const taskQueue = (needsWorker && queueOf(found)) || server.queue;
    const isPolled = !needsWorker || (await hasPollers(client, taskQueue));
    this.allowForRestart(askedAt);
    const isExpected = server.keepsWorker === true && taskQueue === server.queue;
    if (performance.now() >= this.graceUntil && !isPolled && !isExpected)
      throw new HoldfastError('no_worker', { taskQueue, address: server.address });
    if (!isPolled) this.report(`a worker of task queue ${taskQueue}`);
    const stuck = found && (await findStuck(client, found));
    if (stuck?.how === 'fails' && stuck.attempts >= STUCK_ATTEMPTS)
      throw new HoldfastError('workflow_stuck', { got: stuck.got, attempts: stuck.attempts });
    this.countSilence(stuck, { taskQueue, isPolled, isExpected });
    this.planNextLook(stuck !== undefined || !isPolled);
  }

  /** The server was away in the meantime: it must learn about its workers again. */
  private allowForRestart(askedAt: number): void {
    const now = performance.now();
    const { lostAt } = contactOf(this.to.client.connection);
    if (lostAt !== undefined) this.graceUntil = Math.max(this.graceUntil, lostAt + RESTART_MS);
    else if (now - askedAt > RESTARTED_MS) this.graceUntil = now + RESTART_MS;
  }

  /** Throws `worker_silent` if a worker is there, but has not answered for several looks. */
  private countSilence(
    stuck: Stuck | undefined,
    { taskQueue, isPolled, isExpected }: { taskQueue: string; isPolled: boolean; isExpected: boolean },
  ): void {
    const { workflowId, needsWorker, isQuery = false } = this.to;
    // A worker that was just killed leaves its task like that, too: the next worker completes it between two checks.
    // Where workers are killed again and again, tasks are completed in between.
    if (stuck?.progress !== this.progress) this.silentLooks = 0;
    this.progress = stuck?.progress;
    // Where this process restarts the worker, it looks at the worker's process, too: the next may need long to start.
    const isUnanswered = stuck ? stuck.how === 'times out' : isQuery && isPolled;
    const isSilent = needsWorker && !isExpected && isUnanswered;
    this.silentLooks = isSilent ? this.silentLooks + 1 : 0;
    if (this.silentLooks >= SILENT_LOOKS && performance.now() >= this.graceUntil)
      throw new HoldfastError('worker_silent', { taskQueue, got: stuck?.got ?? workflowId });
  }

  private planNextLook(isSuspicious: boolean): void {
    const longerMs = this.pauseMs * (this.to.needsWorker ? GROWTH.answer : GROWTH.result);
    this.pauseMs = isSuspicious ? WORKER_CHECK_MS : Math.min(longerMs, LONGEST_LOOK_MS);
    this.lookAt = performance.now() + this.pauseMs;
  }

  /** Reports the first thing that the call waits for, and no other. */
  private report(what: string): void {
    if (!this.isReported) this.to.server.onDelay?.(what);
    this.isReported = true;
  }
}

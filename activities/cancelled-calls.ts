// Calls of tools and models that learn at once when their workflow cancels them, if it runs in this process. The answer
// to a heartbeat comes up to four seconds later: by then a call may open a session of an agent whose sessions were closed.
import { setTimeout as delay } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import type { InjectedSinks } from '@temporalio/worker';
import { CANCELLED_CALLS, type CancelledCallsSinks } from '../contracts/cancellations';
import { beating } from './beating';

/** Longer than the server takes to say the same. */
const CONFIRMED_MS = 30_000;
/** A call may begin here after it was cancelled. */
const REMEMBERED = 1_000;

export class CancelledCalls {
  /** The attempts of the calls that run here. */
  private readonly running = new Map<string, Set<AbortController>>();
  /** Oldest first. */
  private readonly cancelledIds = new Set<string>();

  constructor(private readonly confirmedMs = CONFIRMED_MS) {}

  /** For the worker that runs the workflows. */
  get sinks(): InjectedSinks<CancelledCallsSinks> {
    return {
      [CANCELLED_CALLS]: {
        report: { fn: ({ runId }, key) => this.cancel(callId(runId, key)), callDuringReplay: false },
      },
    };
  }

  /**
   * Like `beating`, with a signal that aborts sooner.
   * @param key names the call within its workflow's run; undefined from workflows of old releases, whose calls hear by
   *   heartbeat
   */
  beating<T>(
    key: string | undefined,
    work: (signal: AbortSignal) => Promise<T>,
    details?: () => unknown,
  ): Promise<T> {
    return beating(key === undefined ? work : (signal) => this.during(key, signal, work), details);
  }

  private async during<T>(
    key: string,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const id = callId(Context.current().info.workflowExecution?.runId, key);
    const cancelled = new AbortController();
    const attempts = this.running.get(id) ?? new Set();
    this.running.set(id, attempts.add(cancelled));
    if (this.cancelledIds.has(id)) cancelled.abort();
    try {
      return await work(AbortSignal.any([signal, cancelled.signal]));
    } catch (err) {
      if (!cancelled.signal.aborted) throw err;
      // The task in which it was cancelled may have been lost, with the request that had caused it. Another attempt follows then.
      await Promise.race([Context.current().cancelled, delay(this.confirmedMs, undefined, { ref: false })]);
      this.cancelledIds.delete(id);
      throw new Error('its workflow cancelled it, which the server does not confirm', { cause: err });
    } finally {
      attempts.delete(cancelled);
      if (attempts.size === 0) this.running.delete(id);
    }
  }

  private cancel(id: string): void {
    this.cancelledIds.add(id);
    for (const oldest of this.cancelledIds) {
      if (this.cancelledIds.size <= REMEMBERED) break;
      this.cancelledIds.delete(oldest);
    }
    for (const attempt of this.running.get(id) ?? []) attempt.abort();
  }
}

/** A run that was reset runs the calls of the earlier one again, under their keys. */
const callId = (runId = '', key: string): string => `${runId} ${key}`;

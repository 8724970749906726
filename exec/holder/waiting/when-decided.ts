// Waits until a session's state decides that an observer gets its answer.
import type { ObserveReason, Snapshot, Until } from '../../protocol';
import { decide, type Facts } from './observer';

export interface Observed {
  facts(): Facts;
  /** Calls `check` after each change, until the returned function is called. */
  onChange(check: () => void): () => void;
  snapshot(): Snapshot;
}

/** The times of the question, in those of `performance.now()`. The caller's clock is this machine's, but it may be set. */
export function bySteadyClock(until: Until): Until {
  if (until.kind !== 'yield' || until.sinceMs === undefined) return until;
  const age = Math.max(0, Date.now() - until.sinceMs);
  return { ...until, sinceMs: performance.now() - age };
}

/** Resolves at the moment of the decision; never after an abort. Rejects if the state cannot be read. */
export function whenDecided(
  until: Until,
  abort: AbortSignal,
  observed: Observed,
): Promise<{ reason: ObserveReason; snapshot: Snapshot }> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const check = (): void => {
      try {
        look();
      } catch (err) {
        stop();
        reject(err instanceof Error ? err : new Error(String(err)));
      }
    };
    const look = (): void => {
      clearTimeout(timer);
      const facts = observed.facts();
      const outcome = decide(until, facts);
      if ('at' in outcome) {
        timer = setTimeout(check, Math.min(outcome.at - facts.now, 2 ** 31 - 1));
      } else {
        const snapshot = observed.snapshot();
        stop();
        resolve({ reason: outcome.reason, snapshot });
      }
    };
    const forget = observed.onChange(check);
    const stop = (): void => {
      clearTimeout(timer);
      forget();
      abort.removeEventListener('abort', stop);
    };
    abort.addEventListener('abort', stop, { once: true });
    check();
  });
}

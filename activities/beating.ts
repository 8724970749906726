// Shared by all long activities: sends heartbeats while it works, and gives failures their code.
import { CancelledFailure, Context } from '@temporalio/activity';
import { HoldfastError, reasonOf } from '../contracts/errors/holdfast-error';
import { toFailure, toRetryableFailure } from '../contracts/errors/failure';

const HEARTBEAT_MS = 2_000;

/** How often `briefly` lets an activity be tried. */
const TRIES = 4;

/**
 * Runs `work` with a signal that aborts when the activity is cancelled. A retryable error is retried by Temporal.
 * @param details go with each heartbeat
 */
export async function beating<T>(
  work: (signal: AbortSignal) => Promise<T>,
  details: () => unknown = () => undefined,
): Promise<T> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(details()), HEARTBEAT_MS);
  try {
    return await Promise.race([work(context.cancellationSignal), context.cancelled]);
  } catch (err) {
    if (!(err instanceof HoldfastError)) throw err;
    throw err.retryable ? toRetryableFailure(err) : toFailure(err);
  } finally {
    clearInterval(timer);
  }
}

/**
 * The same, for callers who wait for the answer: from the fourth try on an error is final, so that an obstacle that stays is
 * said. A limit of the workflow's would count killed workers, too; the next one is to continue, however many there were.
 */
export async function briefly<T>(
  work: (signal: AbortSignal) => Promise<T>,
  details?: () => unknown,
): Promise<T> {
  return beating(async (signal) => {
    try {
      return await work(signal);
    } catch (err) {
      if (err instanceof CancelledFailure || Context.current().info.attempt < TRIES) throw err;
      throw toFailure(
        err instanceof HoldfastError ? err : new HoldfastError('internal', { reason: reasonOf(err) }),
      );
    }
  }, details);
}

// Shared by all long activities: sends heartbeats while it works, and gives failures their code.
import { Context } from '@temporalio/activity';
import { HoldfastError } from '../contracts/errors/holdfast-error';
import { toFailure, toRetryableFailure } from '../contracts/errors/failure';

const HEARTBEAT_MS = 2_000;

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

// How errors of the catalogue cross Temporal: as ApplicationFailure whose type is the code and whose first
// detail are the facts, so that the other side builds the same error again.
import { ApplicationFailure } from '@temporalio/common';
import { HoldfastError, isErrorCode, type ErrorFacts } from './errors';

/** Failure type of an activity whose worker was killed, said by the worker that came after it. */
export const WORKER_LOST = 'WorkerLost';

/** Never retried by Temporal: what may be tried again, the caller decides by the catalogue. */
export function toFailure(err: HoldfastError): ApplicationFailure {
  const failure = ApplicationFailure.create({
    type: err.code,
    message: err.message,
    nonRetryable: true,
    details: [err.facts],
  });
  // The web UI shows a failure's stack below its message: it would only hide it.
  failure.stack = '';
  return failure;
}

/** Longer than this no provider is waited for at a time. */
const MAX_RETRY_AFTER_MS = 3_600_000;

/** Retried by Temporal; where the facts have `retryAfterMs`, no sooner than after so long, at most an hour. */
export function toRetryableFailure(err: HoldfastError): ApplicationFailure {
  const { retryAfterMs } = err.facts;
  const delayMs = typeof retryAfterMs === 'number' ? Math.min(retryAfterMs, MAX_RETRY_AFTER_MS) : 0;
  return ApplicationFailure.create({
    type: err.code,
    message: err.message,
    details: [err.facts],
    ...(delayMs > 0 && { nextRetryDelay: delayMs }),
  });
}

/** Finds the catalogue's error in a failure's chain of causes. */
export function fromFailure(err: unknown): HoldfastError | undefined {
  for (
    let cause: unknown = err, depth = 0;
    cause instanceof Error && depth < 10;
    cause = cause.cause, depth++
  ) {
    if (cause instanceof HoldfastError) return cause;
    if (cause instanceof ApplicationFailure && isErrorCode(cause.type)) {
      return new HoldfastError(cause.type, (cause.details?.[0] ?? {}) as ErrorFacts);
    }
  }
  return undefined;
}

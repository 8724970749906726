// How catalogue errors cross Temporal: as an ApplicationFailure whose type is the code. Its first detail holds the facts,
// so that the other side can rebuild the same error, and its second leads other SDKs to the error's page.
import { ApplicationFailure } from '@temporalio/common';
import { HoldfastError, isErrorCode, type ErrorFacts } from './holdfast-error';

/** Failure type of an activity whose worker was killed, reported by the worker that replaced it. */
export const WORKER_LOST = 'WorkerLost';

export const workerLost = (): ApplicationFailure =>
  ApplicationFailure.create({
    type: WORKER_LOST,
    message: 'the worker was killed during this activity',
    nextRetryDelay: 1,
  });

/** Never retried by Temporal: the caller decides from the catalogue whether to retry. */
export function toFailure(err: HoldfastError): ApplicationFailure {
  const failure = ApplicationFailure.create({
    type: err.code,
    message: err.message,
    nonRetryable: true,
    details: [err.facts, { docs: err.docs }],
  });
  // The web UI shows a failure's stack below its message: it would only obscure the message.
  failure.stack = '';
  return failure;
}

/** For workflows, which a plain error would not end: their task would fail over and over. */
export function asFailure<T>(work: () => T): T {
  try {
    return work();
  } catch (err) {
    throw err instanceof HoldfastError ? toFailure(err) : err;
  }
}

/** The longest single wait for a provider. */
const MAX_RETRY_AFTER_MS = 3_600_000;

/** Retried by Temporal; if the facts have `retryAfterMs`, no sooner than that, capped at an hour. */
export function toRetryableFailure(err: HoldfastError): ApplicationFailure {
  const { retryAfterMs } = err.facts;
  const delayMs = typeof retryAfterMs === 'number' ? Math.min(retryAfterMs, MAX_RETRY_AFTER_MS) : 0;
  return ApplicationFailure.create({
    type: err.code,
    message: err.message,
    details: [err.facts, { docs: err.docs }],
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
      return HoldfastError.received(cause.type, (cause.details?.[0] ?? {}) as ErrorFacts);
    }
  }
  return undefined;
}

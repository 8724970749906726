// A model call whose time has run out, as the server reports it: by itself, or with the failure of its last attempt.
import { ActivityFailure, TimeoutFailure } from '@temporalio/workflow';

/** Undefined for any other failure. `failure` is that of the last attempt, if one has failed. */
export function outOfTime(err: unknown): { failure: unknown } | undefined {
  if (!(err instanceof ActivityFailure)) return undefined;
  const { cause, retryState } = err;
  if (cause instanceof TimeoutFailure && cause.timeoutType === 'SCHEDULE_TO_CLOSE')
    return { failure: cause.cause };
  // The server gives up as soon as no further attempt could begin in time.
  return retryState === 'TIMEOUT' ? { failure: err } : undefined;
}

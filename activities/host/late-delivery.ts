// A network that was cut delivers buffered data when it works again: by then the server may have given up the call and
// reported to its caller that nothing was done.
import type { Info } from '@temporalio/activity';
import { ActivityCancelledError, ActivityNotFoundError, type Client } from '@temporalio/client';
import { askServer, FRESH_MS } from '../../client/delivery/ask-server';

/** Throws for a call that is not waited for any more. Asks the server if the call has been under way for long. */
export async function refuseLate(
  client: Client,
  { taskToken, currentAttemptScheduledTimestampMs }: Info,
  signal: AbortSignal,
): Promise<void> {
  const age = Date.now() - currentAttemptScheduledTimestampMs;
  // Deviating clocks prove nothing.
  if (age > -FRESH_MS && age < FRESH_MS) return;
  const isGone = (err: unknown): boolean =>
    err instanceof ActivityNotFoundError || err instanceof ActivityCancelledError;
  try {
    await askServer(() => client.activity.heartbeat(taskToken), isGone, signal);
  } catch (err) {
    throw isGone(err) ? new Error('delivered too late: nobody waits for it any more') : err;
  }
}

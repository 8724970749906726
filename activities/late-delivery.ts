// A network that was cut hands over what lay in it when it is mended: by then the server may have given the call up and
// have told its caller that nothing was done.
import type { Info } from '@temporalio/activity';
import { ActivityCancelledError, ActivityNotFoundError, type Client } from '@temporalio/client';
import { setTimeout as delay } from 'node:timers/promises';

/** By the two clocks: what came so soon needs no question, which would cost a way to the server and back. */
const FRESH_MS = 2_000;
const PAUSE_MS = 250;
/** A server that cannot be asked for so long: nothing is done, and that is told. */
const PATIENCE_MS = 10_000;

/** Throws for a call that nobody waits for any more. Asks the server where it has been under way for long. */
export async function refuseLate(
  client: Client,
  { taskToken, currentAttemptScheduledTimestampMs }: Info,
  signal: AbortSignal,
): Promise<void> {
  const age = Date.now() - currentAttemptScheduledTimestampMs;
  // Clocks that disagree tell nothing.
  if (age > -FRESH_MS && age < FRESH_MS) return;
  for (const until = Date.now() + PATIENCE_MS; ;) {
    try {
      return await client.activity.heartbeat(taskToken);
    } catch (err) {
      if (err instanceof ActivityNotFoundError || err instanceof ActivityCancelledError)
        throw new Error('delivered too late: nobody waits for it any more');
      if (Date.now() > until) throw err;
      await delay(PAUSE_MS, undefined, { signal });
    }
  }
}

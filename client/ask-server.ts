// A question to the server right before something is done on a host. What was learned a moment ago need not be asked
// again; a server that is away for a moment is asked again; one that stays away means that nothing is done.
import { setTimeout as delay } from 'node:timers/promises';

/** How long an answer holds. */
export const FRESH_MS = 2_000;
export const PAUSE_MS = 250;
const PATIENCE_MS = 10_000;

/** Throws the first error that `isAnswer` says is the server's answer, and any error after ten seconds. */
export async function askServer<T>(
  ask: () => Promise<T>,
  isAnswer: (err: unknown) => boolean,
  signal?: AbortSignal,
): Promise<T> {
  for (const until = Date.now() + PATIENCE_MS; ;) {
    try {
      return await ask();
    } catch (err) {
      if (isAnswer(err) || Date.now() > until) throw err;
      await delay(PAUSE_MS, undefined, { signal });
    }
  }
}

// Asks the server right before something is done on a host. A recent answer is reused; a server that is briefly away is
// asked again; if it stays away, nothing is done.
import { setTimeout as delay } from 'node:timers/promises';

/** How long an answer is valid. */
export const FRESH_MS = 2_000;
export const PAUSE_MS = 250;
const PATIENCE_MS = 10_000;

/** Throws the first error that `isAnswer` accepts as the server's answer, and any error after ten seconds. */
export async function askServer<T>(
  ask: () => Promise<T>,
  isAnswer: (err: unknown) => boolean,
  signal?: AbortSignal,
): Promise<T> {
  for (const until = performance.now() + PATIENCE_MS; ;) {
    try {
      return await ask();
    } catch (err) {
      if (isAnswer(err) || performance.now() > until) throw err;
      await delay(PAUSE_MS, undefined, { signal });
    }
  }
}

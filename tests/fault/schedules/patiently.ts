// A client as it ought to be: what fails and may succeed later is asked again, under the same id.
import { setTimeout as delay } from 'node:timers/promises';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';

const PAUSE_MS = 200;
/** See jest.config.js. */
declare const PATIENCE: number;
/** Longer than any fault stays. */
const PATIENCE_MS = 90_000 * PATIENCE;

export async function patiently<T>(ask: () => Promise<T>, onFailure: (err: unknown) => void): Promise<T> {
  const until = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await ask();
    } catch (err) {
      onFailure(err);
      if (!(err instanceof HoldfastError) || !err.retryable || Date.now() > until) throw err;
      await delay(PAUSE_MS);
    }
  }
}

// Polls for a condition that nothing announces.
import { setTimeout as delay } from 'node:timers/promises';
import { HoldfastError } from '../../contracts/errors/holdfast-error';

/** See jest.config.js. */
declare const PATIENCE: number;

/** Pauses between two checks grow: the work waited for needs the same processors. */
const [FIRST_PAUSE_MS, PAUSE_MS, LONGEST_PAUSE_MS] = [5, 50, 250];

/**
 * Throws if the condition is never met, so that no loop outlives its test. What does not exist yet, as a session whose
 * first command is still on its way, meets no condition.
 */
export async function until(fact: () => boolean | Promise<boolean>, timeoutMs = 30_000): Promise<void> {
  const longestMs = timeoutMs * PATIENCE;
  const began = Date.now();
  let missing: unknown;
  const isTrue = async (): Promise<boolean> => {
    try {
      missing = undefined;
      return await fact();
    } catch (err) {
      if (!(err instanceof HoldfastError && err.code === 'not_found') || err.facts['ended']) throw err;
      missing = err;
      return false;
    }
  };
  for (let pause = FIRST_PAUSE_MS; !(await isTrue());) {
    const waited = Date.now() - began;
    if (waited > longestMs)
      throw new Error(`within ${longestMs} ms it did not come true: ${String(fact)}`, { cause: missing });
    await delay(pause);
    // Of what takes seconds, a tenth more is no matter.
    pause = Math.min(pause * 1.5, Math.max(PAUSE_MS, waited / 10), LONGEST_PAUSE_MS);
  }
}

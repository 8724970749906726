// Polls for a condition that nothing announces.
import { setTimeout as delay } from 'node:timers/promises';

/** The pause between two checks: the work waited for needs the same processors. */
const PAUSE_MS = 5;

/** Throws if the condition is never met, so that no loop outlives its test. */
export async function until(fact: () => boolean | Promise<boolean>, timeoutMs = 30_000): Promise<void> {
  for (const deadline = Date.now() + timeoutMs; !(await fact()); await delay(PAUSE_MS)) {
    if (Date.now() > deadline)
      throw new Error(`within ${timeoutMs} ms it did not come true: ${String(fact)}`);
  }
}

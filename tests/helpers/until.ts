// Waits for a fact that nobody announces.
import { setTimeout as delay } from 'node:timers/promises';

/** Between two looks: what is waited for needs the same processors. */
const PAUSE_MS = 5;

/** Throws when the fact does not come, so that no loop outlives its test. */
export async function until(fact: () => boolean | Promise<boolean>, timeoutMs = 30_000): Promise<void> {
  for (const deadline = Date.now() + timeoutMs; !(await fact()); await delay(PAUSE_MS)) {
    if (Date.now() > deadline)
      throw new Error(`within ${timeoutMs} ms it did not come true: ${String(fact)}`);
  }
}

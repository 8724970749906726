// Waits for a fact that nobody announces.

/** Looks at every turn of the event loop; throws when the fact does not come, so that no loop outlives its test. */
export async function until(fact: () => boolean | Promise<boolean>, timeoutMs = 30_000): Promise<void> {
  for (const deadline = Date.now() + timeoutMs; !(await fact());) {
    if (Date.now() > deadline)
      throw new Error(`within ${timeoutMs} ms it did not come true: ${String(fact)}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

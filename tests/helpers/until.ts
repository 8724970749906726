// Waits for a fact that nobody announces.

/** Looks at every turn of the event loop; throws when the fact does not come, so that no loop outlives its test. */
export async function until(fact: () => boolean, timeoutMs = 30_000): Promise<void> {
  for (const deadline = Date.now() + timeoutMs; !fact();) {
    if (Date.now() > deadline) throw new Error(`within ${timeoutMs} ms it did not come true: ${fact}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

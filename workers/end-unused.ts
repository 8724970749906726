// Ends a worker that was created but not needed.
import type { Worker } from '@temporalio/worker';

/**
 * Releases the resources of a worker that never ran. The SDK has no other way: a worker gives its connection back only
 * after it has run.
 */
export async function endUnused(worker: Worker): Promise<void> {
  const run = worker.run();
  worker.shutdown();
  await run;
}

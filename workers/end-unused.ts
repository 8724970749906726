// A worker that was made and is not needed.
import type { Worker } from '@temporalio/worker';

/**
 * Lets go of what a worker has that never ran. The SDK has no other way: a worker gives its connection back when it
 * has run.
 */
export async function endUnused(worker: Worker): Promise<void> {
  const run = worker.run();
  worker.shutdown();
  await run;
}

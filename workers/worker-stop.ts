// How a worker stops, also while its server does not answer. The SDK then waits for half a minute, and where it gives up
// sooner, it leaves the worker's threads behind, with which the process never ends.
import { setTimeout as delay } from 'node:timers/promises';
import type { Worker as Thread } from 'node:worker_threads';
import type { Worker } from '@temporalio/worker';

const DRAIN_MS = 2_000;
/** For steps that were cancelled, to say how they ended. */
const LAST_WORD_MS = 3_000;
/** Node's timers end after 2^31 ms: a longer one would end at once. */
export const MAX_DRAIN_MS = 24 * 86_400_000;
/** A stop that the SDK ends by force should be seen as such. */
const GRACE_MS = 500;
/** The SDK does not say when a signal has stopped a worker. */
const LOOK_EVERY_MS = 250;

/** @param drainMs how long steps may take to end by themselves; then they are cancelled, and tried again elsewhere */
export const stopsWithin = (
  drainMs = DRAIN_MS,
): Record<'shutdownGraceTime' | 'shutdownForceTime', number> => ({
  shutdownGraceTime: drainMs,
  shutdownForceTime: drainMs + LAST_WORD_MS,
});

/**
 * Resolves when `run` has ended; or when it has been asked to stop and had the time of `stopsWithin` for it. Then `run` goes on
 * in the background: what its last steps have returned may not have reached the server, and the result is false.
 */
export async function runInTime(worker: Worker, run: Promise<void>): Promise<boolean> {
  const ended = new AbortController();
  try {
    return await Promise.race([run.then(() => true), overdue(worker, ended.signal)]);
  } finally {
    ended.abort();
    await Promise.all(threadsOf(worker).map((thread) => thread.terminate()));
  }
}

/**
 * Releases the resources of a worker that never ran. The SDK has no other way: a worker gives its connection back only
 * after it has run.
 */
export async function endUnused(worker: Worker): Promise<void> {
  const run = worker.run();
  worker.shutdown();
  await runInTime(worker, run);
}

async function overdue(worker: Worker, signal: AbortSignal): Promise<false> {
  const options = { ref: false, signal };
  try {
    while (worker.getState() === 'RUNNING') await delay(LOOK_EVERY_MS, undefined, options);
    await delay((worker.options.shutdownForceTimeMs ?? 0) + GRACE_MS, undefined, options);
  } catch {
    // The run has ended.
  }
  return false;
}

/** What the SDK keeps to itself, as of its version 1.24. */
interface Inner {
  workflowCreator?: { workerThreadClients?: { workerThread?: Thread }[] };
}

const threadsOf = (worker: Worker): Thread[] =>
  ((worker as unknown as Inner).workflowCreator?.workerThreadClients ?? [])
    .map(({ workerThread }) => workerThread)
    .filter((thread) => thread !== undefined);

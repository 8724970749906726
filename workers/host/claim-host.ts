// One worker per host and data folder: two would both run the same commands.
import { join } from 'node:path';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { holdLock } from '../../system/lock';

/**
 * A worker that is asked to stop releases the host within its grace time, but there is no need to wait for all of it.
 */
const PATIENCE_MS = 3_000;

/** Returns the function that releases it; the end of the process does so too. Throws `worker_running`. */
export async function claimHost(dataDir: string, host: string): Promise<() => void> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  try {
    return await holdLock(join(dataDir, `worker.${host}.lock`), { signal });
  } catch (err) {
    if (signal.aborted) throw new HoldfastError('worker_running', { host, dataDir });
    throw err;
  }
}

// One worker per host and data folder: two would both answer for the same commands.
import { join } from 'node:path';
import { HoldfastError } from '../contracts/errors';
import { holdLock } from '../engine/lock';

/** One that is told to end lets go within its grace time at the latest; it need not be waited for in full. */
const PATIENCE_MS = 3_000;

/** Returns how to let go of it; a process that ends lets go too. Throws `worker_running`. */
export async function claimHost(dataDir: string, host: string): Promise<() => void> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  try {
    return await holdLock(join(dataDir, `worker.${host}.lock`), { signal });
  } catch (err) {
    if (signal.aborted) throw new HoldfastError('worker_running', { host, dataDir });
    throw err;
  }
}

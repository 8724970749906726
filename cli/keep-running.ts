// While a command watches, the embedded server and its worker are started again when they die: whoever
// killed them, the work goes on.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { enginePaths, readRecord } from '../engine/record';
import { isAlive } from '../exec/process-identity';
import { HoldfastError, reasonOf } from '../contracts/errors';
import { findSilentWorker, runningWorker } from '../workers/worker-record';
import { reportError } from './report-error';
import { note } from './terminal-style';

const LOOK_EVERY_MS = 250;
/** EX_TEMPFAIL of sysexits. */
const STOPPED = 75;

/** There while `holdfast down` means it: whoever watches then stops watching, and restarts nothing. */
export const stopMarker = (dataDir: string): string => join(dataDir, 'stopping');

export interface Restarts {
  server(): Promise<unknown>;
  worker(): Promise<unknown>;
}

/** Returns the function that ends the watch. */
export function keepRunning(dataDir: string, restart: Restarts): () => void {
  let busy = false;
  let isSilenceTold = false;
  const look = async (): Promise<void> => {
    if (existsSync(stopMarker(dataDir))) {
      note('Stopped by `holdfast down`. The work is kept: it goes on with the next `holdfast up`.');
      process.exit(STOPPED);
    }
    const server = readRecord(enginePaths(dataDir));
    if (!server || !isAlive(server.identity)) {
      note('The Temporal server is gone; starting it again on the same database.');
      await restart.server();
    }
    if (!runningWorker(dataDir)) {
      note('The worker is gone; starting another, which takes over what it was at.');
      await restart.worker();
    }
    const silent = findSilentWorker(dataDir);
    // Not ended by us: somebody may have stopped it to look at it.
    if (silent && !isSilenceTold) note(silent.message);
    isSilenceTold = silent !== undefined;
  };
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    look()
      .catch((err: unknown) => {
        // This command's client still speaks to the old address, where somebody else may answer by now.
        if (err instanceof HoldfastError && err.code === 'engine_moved')
          process.exit(reportError(err, false));
        note(`It could not be started again: ${reasonOf(err)}`);
      })
      .finally(() => (busy = false));
  }, LOOK_EVERY_MS);
  return () => clearInterval(timer);
}

// While a command watches, the embedded server and its worker are restarted when they die: whatever killed them, the
// work continues.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { enginePaths, readRecord } from '../../engine/record';
import { isAlive } from '../../system/processes/process-identity';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import { findSilentWorker, runningWorker } from '../../workers/process/worker-record';
import type { GivenOptions } from '../print/next-step';
import { exitWith } from '../print/report-error';
import { noteUnless } from '../terminal/terminal-style';

const LOOK_EVERY_MS = 250;

/** Exists while `holdfast down` applies: watching commands then stop watching, and restart nothing. */
export const stopMarker = (dataDir: string): string => join(dataDir, 'stopping');

export interface Restarts {
  server(): Promise<unknown>;
  worker(): Promise<unknown>;
}

/** Returns the function that ends the watch. */
export function keepRunning(
  dataDir: string,
  restart: Restarts,
  options: GivenOptions & { json?: boolean },
): () => void {
  const { json = false } = options;
  const tell = noteUnless(json);
  let busy = false;
  let isSilenceTold = false;
  const look = async (): Promise<void> => {
    if (existsSync(stopMarker(dataDir))) {
      exitWith(new HoldfastError('engine_stopped', {}), json, options);
    }
    const server = readRecord(enginePaths(dataDir));
    // A server that was killed leaves its record. Without one the folder was moved or removed: what is started here would
    // have an empty database.
    if (!server) return;
    if (!isAlive(server.identity)) {
      tell('The Temporal server is gone; restarting it on the same database.');
      await restart.server();
    }
    if (!runningWorker(dataDir)) {
      tell('The worker is gone; starting another, which takes over its work.');
      await restart.worker();
    }
    const silent = findSilentWorker(dataDir);
    // Not ended by us: someone may have stopped it to inspect it.
    if (silent && !isSilenceTold) tell(silent.message);
    isSilenceTold = silent !== undefined;
  };
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    look()
      .catch((err: unknown) => {
        // This command's client still uses the old address, where something else may answer by now.
        if (err instanceof HoldfastError && err.code === 'engine_moved') exitWith(err, json, options);
        tell(`It could not be restarted: ${reasonOf(err)}`);
      })
      .finally(() => (busy = false));
  }, LOOK_EVERY_MS);
  return () => clearInterval(timer);
}

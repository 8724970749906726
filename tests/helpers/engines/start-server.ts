// Servers of tests stay away from the usual ports: those may be the developer's own, and another test's server
// must not take the port of one that was just killed.
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import { defaultCacheDir } from '../../../system/data-dir';
import { readRecord, enginePaths } from '../../../engine/record';
import { ensureServer, type EngineRecord } from '../../../engine/server';
import type { Settings } from '../../../engine/tuning';
import { isLongRun } from '../run/long-run';

/** Below the ports that the system gives to outgoing connections. */
const LOWEST = 12_000;
const HIGHEST = 30_000;

/**
 * A tenth of the usual limits: what happens at them shows with few events. `npm run test:long` has the real ones.
 */
const SETTINGS = { 'limit.historyCount.suggestContinueAsNew': 400, 'limit.numPendingActivities.error': 200 };

/** Nothing here ends the machine, and what outlives the processes needs no flush. `npm run test:long` flushes. */
const DATABASE = { journal_mode: 'wal', synchronous: 'normal' };

/** Starts the data folder's server, on its previous ports if it had any. `settings` are further dynamic configuration. */
export async function startServer(
  dataDir: string,
  progress: (line: string) => void,
  settings: Settings = {},
): Promise<EngineRecord> {
  const tuning = isLongRun ? { settings } : { settings: { ...SETTINGS, ...settings }, database: DATABASE };
  const options = { dataDir, cacheDir: defaultCacheDir(process.env), env: process.env, progress, ...tuning };
  if (readRecord(enginePaths(dataDir))) return ensureServer(options);
  for (;;) {
    const port = LOWEST + 2 * Math.floor((Math.random() * (HIGHEST - LOWEST)) / 2);
    try {
      return await ensureServer({ ...options, port, uiPort: port + 1 });
    } catch (err) {
      if (!(err instanceof HoldfastError) || err.code !== 'port_in_use') throw err;
    }
  }
}

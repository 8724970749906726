// While a command waits for the embedded server: a server whose disk refuses writes neither answers nor reports it, and
// recovers when the disk does. Only a check of the disk shows that.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { enginePaths } from '../../engine/record';
import { removeQuietly } from '../../system/json-file';
import { asStorageFailure } from '../../system/storage-failure';
import { exitWith } from '../print/report-error';
import { note } from '../terminal/terminal-style';

const LOOK_EVERY_MS = 1_000;
/** A few pages more than the server's database needs for a transaction. */
const NEEDED_BYTES = 64 * 1024;
const DONE = 'the server records nothing meanwhile; programs in sessions keep running';

/**
 * Exits with the error when two checks in a row find that the server cannot write; with `stay` it only says so, once.
 * Returns the function that ends the watch.
 */
export function watchDisk(dataDir: string, { json, stay }: { json: boolean; stay: boolean }): () => void {
  let faults = 0;
  const timer = setInterval(() => {
    const fault = faultOf(enginePaths(dataDir).folder);
    faults = fault ? faults + 1 : 0;
    if (!fault || faults !== 2) return;
    if (!stay) exitWith(fault, json);
    if (!json) note(`${fault.code}: ${fault.message}`);
  }, LOOK_EVERY_MS).unref();
  return () => clearInterval(timer);
}

function faultOf(folder: string): HoldfastError | undefined {
  const probe = join(folder, `.probe-${process.pid}`);
  try {
    writeFileSync(probe, Buffer.alloc(NEEDED_BYTES), { mode: 0o600 });
    return undefined;
  } catch (err) {
    const known = asStorageFailure(err);
    if (!(known instanceof HoldfastError) || known.code !== 'storage_failed') return undefined;
    const reason = `${String(known.facts.reason)} in ${folder}`;
    return new HoldfastError('storage_failed', { reason, done: DONE });
  } finally {
    removeQuietly(probe);
  }
}

// Identifies a data folder by an id, so that others can tell it from every other folder.
import { randomUUID } from 'node:crypto';
import { linkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readJson } from '../../system/json-file';
import { makeFolder } from '../../system/make-folder';
import { asStorageFailure } from '../../system/storage-failure';

/** The id of a data folder, created if it has none yet. Throws `storage_failed`. */
export function dataFolderId(dataDir: string): string {
  const path = join(dataDir, 'folder.json');
  const known = readJson<{ id: string }>(path);
  if (known) return known.id;
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    makeFolder(dataDir);
    writeFileSync(temporary, JSON.stringify({ id: randomUUID() }), { mode: 0o600 });
    // If two processes create it at once, the first one wins: a link does not replace.
    linkSync(temporary, path);
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code !== 'EEXIST') throw asStorageFailure(err);
  } finally {
    rmSync(temporary, { force: true });
  }
  return dataFolderId(dataDir);
}

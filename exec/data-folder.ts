// Which data folder this is: an id of its own, so that others can tell it from every other folder.
import { randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readJson } from './json-file';
import { asStorageFailure } from './storage-failure';

/** The id of a data folder, made where it has none yet. Throws `storage_failed`. */
export function dataFolderId(dataDir: string): string {
  const path = join(dataDir, 'folder.json');
  const known = readJson<{ id: string }>(path);
  if (known) return known.id;
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    writeFileSync(temporary, JSON.stringify({ id: randomUUID() }), { mode: 0o600 });
    // Of two processes that make it at once the first one counts: a link does not replace.
    linkSync(temporary, path);
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code !== 'EEXIST') throw asStorageFailure(err);
  } finally {
    rmSync(temporary, { force: true });
  }
  return dataFolderId(dataDir);
}

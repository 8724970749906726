// Identifies a data folder by an id, so that it can be distinguished from every other folder.
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { createOnce, readJson } from '../../system/json-file';
import { makeFolder } from '../../system/make-folder';

/** The id of a data folder, created if it has none yet. Throws `storage_failed`, also if its file is damaged. */
export function dataFolderId(dataDir: string): string {
  const path = join(dataDir, 'folder.json');
  if (!existsSync(path)) {
    makeFolder(dataDir);
    createOnce(path, JSON.stringify({ id: randomUUID() }));
  }
  const known = readJson<{ id?: unknown } | null>(path)?.id;
  // Not replaced: with another id, the folder would lose its hosts and its open sessions without a word.
  if (typeof known !== 'string') throw new HoldfastError('storage_failed', { reason: `${path} is damaged` });
  return known;
}

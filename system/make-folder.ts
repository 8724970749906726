// Creates folders, with a clear reason on failure.
import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { asStorageFailure } from './storage-failure';

/** Creates a folder for this user only, with its parents. Throws `storage_failed` and `resources_exhausted`. */
export function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (err) {
    throw asStorageFailure((err as NodeJS.ErrnoException).code === 'ENOENT' ? trueReason(path, err) : err);
  }
}

/** Node reports ENOENT for anything that keeps a recursive mkdir from creating the first of several folders. */
function trueReason(path: string, said: unknown): unknown {
  let first = path;
  while (!existsSync(dirname(first)) && dirname(first) !== first) first = dirname(first);
  try {
    mkdirSync(first, { mode: 0o700 });
    return said;
  } catch (err) {
    return err;
  }
}

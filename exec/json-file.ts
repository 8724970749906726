// Small JSON files that are whole or absent, whenever a process dies.
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { asStorageFailure } from './storage-failure';

/** Writes by rename; readable by this user only. Throws `storage_failed` or `resources_exhausted`, and leaves nothing then. */
export function writeJson(path: string, value: unknown): void {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, JSON.stringify(value), { mode: 0o600 });
    renameSync(temporary, path);
  } catch (err) {
    removeQuietly(temporary);
    throw asStorageFailure(err);
  }
}

/**
 * The file's value; undefined where it is absent or not JSON. Throws `storage_failed` or `resources_exhausted` where it
 * cannot be read: what is there must never be taken for absent.
 */
export function readJson<T>(path: string): T | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as T;
  } catch (err) {
    const failure = asStorageFailure(err);
    if (failure !== err) throw failure;
    return undefined;
  }
}

/** Removes a file where that can be done. */
export function removeQuietly(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // A read-only folder keeps it; it means nothing without what it belonged to.
  }
}

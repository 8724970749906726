// Small JSON files that are whole or absent, whenever a process dies.
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { asStorageFailure } from './storage-failure';

/** Writes by rename; readable by this user only. Throws `storage_failed`, and leaves nothing then. */
export function writeJson(path: string, value: unknown): void {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, JSON.stringify(value), { mode: 0o600 });
    renameSync(temporary, path);
  } catch (err) {
    rmSync(temporary, { force: true });
    throw asStorageFailure(err);
  }
}

/** The file's value; undefined where it is absent or not JSON. */
export function readJson<T>(path: string): T | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as T;
  } catch {
    return undefined;
  }
}

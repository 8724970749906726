// Small JSON files that are whole or absent, whenever a process dies.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';

/** Writes by rename; readable by this user only. */
export function writeJson(path: string, value: unknown): void {
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, JSON.stringify(value), { mode: 0o600 });
  renameSync(temporary, path);
}

/** The file's value; undefined where it is absent or not JSON. */
export function readJson<T>(path: string): T | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as T;
  } catch {
    return undefined;
  }
}

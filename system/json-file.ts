// Small files that are written atomically, even if a process dies; most are JSON.
import {
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { HoldfastError } from '../contracts/errors/holdfast-error';
import { asStorageFailure } from './storage-failure';

/**
 * Writes by rename; readable by this user only. Throws `storage_failed` or `resources_exhausted`, and then leaves no
 * file. A power failure may leave an empty one, or the earlier one, unless it is flushed.
 */
export function writeJson(path: string, value: unknown, { flush = false } = {}): void {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, JSON.stringify(value), { mode: 0o600, flush });
    renameSync(temporary, path);
  } catch (err) {
    removeQuietly(temporary);
    throw asStorageFailure(err);
  }
  if (flush) flushFolder(dirname(path));
}

/**
 * Creates a file that never changes, readable by this user only; one that exists stays as it is. Not even a full disk or
 * a power failure leaves a part of it. Throws like `writeJson`.
 */
export function createOnce(path: string, text: string): void {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, text, { mode: 0o600, flush: true });
    // If two processes create it at once, the first one wins: a link does not replace.
    linkSync(temporary, path);
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code !== 'EEXIST') throw asStorageFailure(err);
  } finally {
    removeQuietly(temporary);
  }
  flushFolder(dirname(path));
}

/** From then on, a power failure takes back no name that was given in the folder. Throws like `writeJson`. */
export function flushFolder(path: string): void {
  try {
    const fd = openSync(path, 'r');
    try {
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  } catch (err) {
    // Some network file systems flush no folder, and need not.
    if ((err as NodeJS.ErrnoException).code !== 'EINVAL') throw asStorageFailure(err);
  }
}

/**
 * The file's value; undefined if it is absent or not JSON. Throws `storage_failed` or `resources_exhausted` if it
 * cannot be read: an existing file must never be taken for absent.
 */
export function readJson<T>(path: string): T | undefined {
  try {
    // Of thousands of closed sessions each is asked for one: an error would cost ten times as much as this answer.
    if (!statSync(path, { throwIfNoEntry: false })) return undefined;
    return JSON.parse(readFileSync(path, 'utf8')) as T;
  } catch (err) {
    const failure = asStorageFailure(err);
    if (failure !== err) throw failure;
    return undefined;
  }
}

/**
 * The list in a file; none if there is no file. Throws `config_invalid` with `faults` for one that is damaged: it must not
 * count as empty and be overwritten.
 */
export function readList<T>(path: string, isOne: (value: unknown) => value is T, faults: string): T[] {
  if (!statSync(path, { throwIfNoEntry: false })) return [];
  const found = readJson<unknown>(path);
  if (Array.isArray(found) && found.every(isOne)) return found;
  throw new HoldfastError('config_invalid', { faults });
}

/** Changes with each write, which is a rename. */
export function stampOf(path: string): string {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found ? `${found.ino} ${found.mtimeNs} ${found.size}` : 'absent';
}

/** Removes a file if possible. */
export function removeQuietly(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // It stays in a read-only folder, where it means nothing without the rest.
  }
}

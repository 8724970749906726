// Records of processes in files: a process is found again by what it, or its starter, has written into the data folder. In
// a copy of the folder they are the original's processes, which may not be ended or waited for from there.
import { realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { readJson, writeJson } from '../json-file';
import { asStorageFailure } from '../storage-failure';
import type { Identity } from './process-identity';

/**
 * Where a record was written. A copy differs in both: a folder that was moved keeps its number, and a folder keeps its path
 * on file systems that number a folder anew when they look it up again (overlayfs, FUSE).
 */
interface Place {
  path: string;
  /** Device and inode. */
  number: string;
}

/** No boot has this id: `isAlive` is false. */
const OF_A_COPY = 'of the folder that this one was copied from';

/** Like `writeJson`, and remembers in which folder. */
export function writeProcessRecord(file: string, record: object): void {
  writeJson(file, { ...record, writtenIn: placeOf(dirname(file)) });
}

/**
 * Like `readJson`. In a copy of the folder all processes of the record count as gone. A record that does not say where it
 * was written is taken as it is.
 */
export function readProcessRecord<T extends object>(file: string): T | undefined {
  const found = readJson<T & { writtenIn?: Place }>(file);
  if (!found) return undefined;
  const { writtenIn, ...record } = found;
  const isOurs = writtenIn === undefined || isHere(writtenIn, dirname(file));
  return (isOurs ? record : withoutProcesses(record)) as T;
}

function placeOf(folder: string): Place {
  try {
    const { dev, ino } = statSync(folder);
    return { path: realpathSync(folder), number: `${dev}:${ino}` };
  } catch (err) {
    throw asStorageFailure(err);
  }
}

function isHere(written: Place, folder: string): boolean {
  try {
    const here = placeOf(folder);
    return written.number === here.number || written.path === here.path;
  } catch {
    // Removed after it was read, as the folder of a session may be: it was there.
    return true;
  }
}

const withoutProcesses = (record: object): unknown =>
  JSON.parse(JSON.stringify(record), (_key, value: unknown) =>
    isIdentity(value) ? { ...value, bootId: OF_A_COPY } : value,
  );

const isIdentity = (value: unknown): value is Identity =>
  typeof value === 'object' && value !== null && 'pid' in value && 'startTime' in value && 'bootId' in value;

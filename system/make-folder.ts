// Creates folders, with the true reason if that is impossible.
import { mkdirSync, statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { HoldfastError } from '../contracts/errors/holdfast-error';
import { asStorageFailure } from './storage-failure';

/** Of mkdir(2), where the disk itself is well. */
const IN_THE_WAY: Readonly<Record<string, string>> = {
  EEXIST: 'something that is no folder is in its place',
  ENOTDIR: 'a part of its path is no folder',
  ENOENT: 'no folder can be made there',
};

const OWN = 0o700;

/**
 * Creates a folder with its parents, by default for this user only. Throws `storage_failed` and `resources_exhausted`.
 */
export function makeFolder(path: string, mode = OWN): void {
  try {
    make(path, mode);
  } catch (err) {
    const { code = '', message } = err as NodeJS.ErrnoException;
    const words = IN_THE_WAY[code];
    throw words === undefined
      ? asStorageFailure(err)
      : new HoldfastError('storage_failed', { reason: `${path}: ${words} (${message})` });
  }
}

/**
 * Each parent by itself: where a folder exists and takes none (/proc), Node's recursive mkdir tries for ever, and anywhere
 * else it reports ENOENT for whatever keeps it from creating the first of several folders.
 */
function make(path: string, mode: number): void {
  try {
    makeOne(path, mode);
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code !== 'ENOENT') throw err;
    // Another process may be making the same ones: the parent may exist by now.
    if (!isFolder(dirname(path))) make(dirname(path), mode);
    makeOne(path, mode);
  }
}

function makeOne(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (err) {
    if (!isFolder(path)) throw err;
  }
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/** Like `makeFolder` for anybody's folder, where a slow disk must stall nothing else. Throws what mkdir(2) says. */
export async function makeFolders(path: string): Promise<void> {
  const one = (): Promise<void> =>
    mkdir(path).catch((err: unknown) => {
      if (!isFolder(path)) throw err;
    });
  try {
    await one();
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code !== 'ENOENT') throw err;
    if (!isFolder(dirname(path))) await makeFolders(dirname(path));
    await one();
  }
}

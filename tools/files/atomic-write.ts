// Replaces a file's content atomically: a reader sees the old or the new, even if the worker dies in between.
import { randomBytes } from 'node:crypto';
import { lstat, open, readlink, realpath, rename, unlink } from 'node:fs/promises';
import type { Stats } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { kindOf, notRegular } from './host-files';

/** As many links as Linux follows (path_resolution(7)). */
const MAX_LINKS = 40;
/** Mode bits without set-user-ID, set-group-ID and sticky. */
const PERMISSIONS = 0o777;
/** Mode of a new file. Read once: reading the umask sets it for a moment, for all threads. */
const NEW_FILE = 0o666 & ~process.umask();

/** New content beside its file, until it is moved into place. */
export interface Prepared {
  /** The file that it becomes; links are followed. */
  target: string;
  commit(): Promise<void>;
  discard(): Promise<void>;
}

/** As `prepareAt`, for the file itself. A symbolic link is followed and stays one. */
export async function prepareWrite(path: string, content: string): Promise<Prepared> {
  const target = await followLinks(path);
  const existing = await statOrNone(target);
  if (existing && !existing.isFile()) throw notRegular(path, kindOf(existing));
  return prepareAt(target, content, target);
}

/**
 * Writes the content beside `target`, with the permissions and owner of the file `modeOf`, if there is one. Until the
 * content is complete only this user can read it. It never runs with its owner's rights: set-user-ID and set-group-ID are
 * not carried over to content that someone else wrote. A symbolic link at `target` is replaced. Throws `invalid_input` for
 * anything else but a regular file, and file system errors.
 */
export async function prepareAt(target: string, content: string, modeOf: string): Promise<Prepared> {
  const existing = await statOrNone(target);
  if (existing && !existing.isFile() && !existing.isSymbolicLink())
    throw notRegular(target, kindOf(existing));
  const like = modeOf === target ? existing : await statOrNone(modeOf);
  const before = like?.isFile() ? like : undefined;
  const temporary = besideOf(target);
  const file = await open(temporary, 'wx', 0o600);
  const discard = (): Promise<void> => unlink(temporary).catch(() => undefined);
  try {
    await file.writeFile(content);
    // Before the mode: until then only the new owner can read it. Only root can change the owner, and failing is fine.
    if (before) await file.chown(before.uid, before.gid).catch(() => undefined);
    await file.chmod(before ? before.mode & PERMISSIONS : NEW_FILE);
    await file.sync();
  } catch (err) {
    await discard();
    throw err;
  } finally {
    await file.close();
  }
  return { target, commit: () => rename(temporary, target), discard };
}

/** A free name in the same folder. */
export const besideOf = (path: string): string =>
  join(dirname(path), `.${startOf(basename(path))}.${randomBytes(6).toString('hex')}`);

/** A name has 255 bytes. */
const startOf = (name: string): string => Buffer.from(name).subarray(0, 200).toString();

/** The file that a path resolves to, which need not exist. */
export async function followLinks(path: string): Promise<string> {
  let target = path;
  for (let links = 0; links < MAX_LINKS; links++) {
    try {
      return await realpath(target);
    } catch (err) {
      if ((err as NodeJS.ErrnoException).code !== 'ENOENT') throw err;
      const link = await readlink(target).catch(() => undefined);
      const folder = dirname(target);
      if (link === undefined)
        return folder === target ? target : join(await followLinks(folder), basename(target));
      // Not `resolve`: where `..` leads depends on the links before it.
      target = isAbsolute(link) ? link : `${folder}/${link}`;
    }
  }
  return target;
}

async function statOrNone(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw err;
  }
}

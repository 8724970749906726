// Reaches files of a workspace without leaving it. Code in the workspace may replace any folder by a link at any time,
// so each folder on the way is opened by itself, never through a link, and its files are named below that descriptor.
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  type BigIntStats,
} from 'node:fs';
import { fromBytes, nameOf, toBytes, type BytePath } from '../byte-path';

/** Not among Node's constants: opens a folder that may not be read (open(2)). */
const O_PATH = 0o10000000;
const FOLDER = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const AWAY = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG']);

/** Whether an error says that a path is not there, or is no longer what it was. */
export const isAway = (err: unknown): boolean => AWAY.has((err as NodeJS.ErrnoException).code ?? '');

/** Whether an error says that this user may not do that. */
export const isDenied = (err: unknown): boolean => (err as NodeJS.ErrnoException).code === 'EACCES';

/** A folder on the way may have gone, or become a link, while this runs: throws ENOENT. */
export function withPlace<T>(place: Buffer | undefined, work: (place: Buffer) => T): T {
  if (place === undefined)
    throw Object.assign(new Error('a folder on the way was removed meanwhile'), { code: 'ENOENT' });
  return work(place);
}

const below = (fd: number, name: BytePath): Buffer => toBytes(`/proc/self/fd/${fd}/${name}`);

/** The folders from the root to the last one used stay open: paths are best visited in order. */
export class Inside implements Disposable {
  private readonly root: number;
  private readonly open: { name: BytePath; fd: number }[] = [];

  /** @param root a real path. Throws if it is no folder, or leads through a link by now. */
  constructor(root: string) {
    this.root = openSync(root, FOLDER);
    if (readlinkSync(`/proc/self/fd/${this.root}`) === root) return;
    closeSync(this.root);
    throw Object.assign(new Error(`${root} leads elsewhere by now`), { code: 'ELOOP' });
  }

  /** How the file system knows a path, until the next call; undefined if its folder is not there. */
  place(path: BytePath): Buffer | undefined {
    const folder = this.folder(path.slice(0, Math.max(0, path.lastIndexOf('/'))));
    return folder === undefined ? undefined : below(folder, nameOf(path));
  }

  /** The folder itself, for its mode and its entries. */
  folderPlace(path: BytePath): Buffer | undefined {
    const folder = this.folder(path);
    return folder === undefined ? undefined : toBytes(`/proc/self/fd/${folder}`);
  }

  folderStats(path: BytePath): BigIntStats | undefined {
    const folder = this.folder(path);
    return folder === undefined ? undefined : fstatSync(folder, { bigint: true });
  }

  /** Undefined if there is nothing. */
  stats(path: BytePath): BigIntStats | undefined {
    const place = this.place(path);
    if (place === undefined) return undefined;
    try {
      return lstatSync(place, { bigint: true, throwIfNoEntry: false });
    } catch (err) {
      if (isAway(err)) return undefined;
      throw err;
    }
  }

  /** Names and kinds in a folder; nothing if it is not there, undefined if it may not be read. */
  entries(path: BytePath): { name: BytePath; isFolder: boolean; isSpecial: boolean }[] | undefined {
    const place = this.folderPlace(path);
    if (place === undefined) return [];
    try {
      return readdirSync(place, { withFileTypes: true, encoding: 'buffer' }).map((entry) => ({
        name: fromBytes(entry.name),
        isFolder: entry.isDirectory(),
        isSpecial: !entry.isDirectory() && !entry.isFile() && !entry.isSymbolicLink(),
      }));
    } catch (err) {
      if (isAway(err)) return [];
      if (isDenied(err)) return undefined;
      throw err;
    }
  }

  /** To be called after folders were removed, moved or replaced. */
  forget(): void {
    for (const { fd } of this.open.splice(0)) closeSync(fd);
  }

  [Symbol.dispose](): void {
    this.forget();
    closeSync(this.root);
  }

  private folder(path: BytePath): number | undefined {
    const names = path === '' ? [] : path.split('/');
    let same = 0;
    while (same < names.length && this.open[same]?.name === names[same]) same++;
    for (const { fd } of this.open.splice(same)) closeSync(fd);
    let at = this.open.at(-1)?.fd ?? this.root;
    for (const name of names.slice(same)) {
      try {
        at = openSync(below(at, name), FOLDER);
      } catch (err) {
        if (isAway(err)) return undefined;
        throw err;
      }
      this.open.push({ name, fd: at });
    }
    return at;
  }
}

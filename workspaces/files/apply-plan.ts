// Carries out a plan on the files of a workspace. Doing it again does no harm, so a killed process's work is finished by
// doing all of it. What no checkpoint holds is moved aside, never deleted.
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  writeSync,
  type BigIntStats,
} from 'node:fs';
import { open as openFile } from 'node:fs/promises';
import { crashPoint } from '../../system/faults/crash-point';
import { folderOf, foldersOn, joined, shownPath, type BytePath } from '../byte-path';
import { FILE_PERMISSIONS, FOLDER_PERMISSIONS, LINK_MODE } from '../git/facts';
import { blobHash } from '../git/object-writer';
import type { ObjectReader } from '../git/object-reader';
import type { Breather } from '../../system/processes/breather';
import type { FilePlan, WrittenFile } from './file-plan';
import { isAway, isDenied, withPlace, type Inside } from './inside';
import { asideOf, type MovedAside } from './moved-aside';
import type { ReachInside } from './reach-inside';

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const OWNER_ALL = 0o700;
const S_IFMT = 0o170000n;
const S_IFDIR = 0o040000n;
const S_IFREG = 0o100000n;

export interface ApplyTools {
  inside: Inside;
  /** What lies outside of it is refused as its sandbox would (EROFS): the caller has planned nothing there. */
  reach: ReachInside;
  objects: ObjectReader;
  breather: Breather;
  /** Names temporary files, and what is moved aside. */
  id: string;
  /** What comes back once its place is free. */
  back: readonly MovedAside[];
}

const isFolder = ({ mode }: BigIntStats): boolean => (mode & S_IFMT) === S_IFDIR;

/** The name of temporary files begins so. */
export const temporaryPrefix = (id: string): string => `.holdfast-${id}-`;

export async function applyPlan(plan: FilePlan, tools: ApplyTools): Promise<void> {
  const applying = new Applying(tools);
  const errors: unknown[] = [];
  await applying.files(plan).catch((err: unknown) => errors.push(err));
  // Also if something was in the way: each folder that was opened for this is closed again.
  await applying.each(plan.folderModes, ([path, mode]) => {
    try {
      applying.setFolderMode(path, mode);
    } catch (err) {
      errors.push(err);
    }
  });
  // The first one says what is in the way.
  if (errors.length > 0) throw errors[0];
}

class Applying {
  constructor(private readonly tools: ApplyTools) {}

  async files({ remove, dropFolders, folders, write, fileModes }: FilePlan): Promise<void> {
    await this.each(remove, (path) => this.remove(path));
    await this.each(dropFolders, (path) => this.dropFolder(path));
    const { reach, back } = this.tools;
    await this.each(back, (one) => this.bringBack(one));
    await this.each(
      folders.filter((path) => reach.mayChange(path)),
      (path) => this.makeFolder(path),
    );
    for (const [number, file] of write.entries()) {
      if (number >= write.length / 2) crashPoint('rewind-half');
      await this.write(file, number);
    }
    await this.each(fileModes, ([path, mode]) => this.setFileMode(path, mode));
  }

  async each<T>(items: Iterable<T>, work: (item: T) => void): Promise<void> {
    for (const item of items) {
      await this.tools.breather.breathe();
      work(item);
    }
  }

  remove(path: BytePath): void {
    const { inside } = this.tools;
    this.check(path);
    this.open(folderOf(path));
    const stats = inside.stats(path);
    if (!stats || isFolder(stats)) return;
    quietly(() => withPlace(inside.place(path), unlinkSync));
  }

  dropFolder(path: BytePath): void {
    const { inside } = this.tools;
    this.open(folderOf(path));
    const stats = inside.stats(path);
    if (stats && isFolder(stats) && this.tools.reach.mayChange(path)) this.removeFolder(path);
  }

  private bringBack({ path, to }: MovedAside): void {
    const { inside } = this.tools;
    this.open(folderOf(path));
    // Somebody may have put something there meanwhile.
    if (inside.stats(path)) return;
    quietly(() => this.rename(to, path));
    inside.forget();
  }

  makeFolder(path: BytePath): void {
    const { inside } = this.tools;
    for (const folder of [...foldersOn(path), path]) {
      this.open(folderOf(folder));
      const stats = inside.stats(folder);
      if (stats && isFolder(stats)) continue;
      this.check(folder);
      if (stats) this.moveAside(folder);
      withPlace(inside.place(folder), (place) => mkdirSync(place, OWNER_ALL));
    }
  }

  async write(file: WrittenFile, number: number): Promise<void> {
    const { inside, id } = this.tools;
    const { path, mode } = file;
    this.check(path);
    const folder = folderOf(path);
    if (folder !== '') this.makeFolder(folder);
    this.open(folder);
    const temporary = joined(folder, `${temporaryPrefix(id)}${number}`);
    quietly(() => withPlace(inside.place(temporary), unlinkSync));
    try {
      if (mode === LINK_MODE) await this.writeLink(file, temporary);
      else await this.writeFile(file, temporary);
      await this.clear(file);
      this.rename(temporary, path);
    } catch (err) {
      quietly(() => withPlace(inside.place(temporary), unlinkSync));
      throw err;
    }
  }

  setFileMode(path: BytePath, mode: number): void {
    const { inside } = this.tools;
    this.check(path);
    this.open(folderOf(path));
    const place = inside.place(path);
    if (place === undefined) return;
    quietly(() => {
      const fd = openSync(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      try {
        if ((fstatSync(fd).mode & FILE_PERMISSIONS) !== mode) fchmodSync(fd, mode);
      } finally {
        closeSync(fd);
      }
    });
  }

  setFolderMode(path: BytePath, mode: number): void {
    const { inside, reach } = this.tools;
    if (!reach.mayChangeIn(path)) return;
    this.open(folderOf(path));
    const stats = inside.folderStats(path);
    // Only the owner may set a mode, even to what it already is.
    if (!stats || (Number(stats.mode) & FOLDER_PERMISSIONS) === mode) return;
    withPlace(inside.folderPlace(path), (place) => chmodSync(place, mode));
  }

  private async writeLink({ oid }: WrittenFile, temporary: BytePath): Promise<void> {
    const target = await this.tools.objects.whole(oid);
    withPlace(this.tools.inside.place(temporary), (place) => symlinkSync(target, place));
  }

  private async writeFile({ oid, permissions }: WrittenFile, temporary: BytePath): Promise<void> {
    const fd = withPlace(this.tools.inside.place(temporary), (place) => openSync(place, CREATE, 0o600));
    try {
      for await (const piece of this.tools.objects.pieces(oid))
        for (let at = 0; at < piece.length;) at += writeSync(fd, piece, at);
      fchmodSync(fd, permissions);
    } finally {
      closeSync(fd);
    }
  }

  /** Makes room for a file. */
  private async clear({ path, oid, isRecorded }: WrittenFile): Promise<void> {
    const { inside } = this.tools;
    const stats = inside.stats(path);
    if (!stats) return;
    if (isFolder(stats)) {
      if (!this.removeFolder(path)) this.moveAside(path);
    } else if (!isRecorded && !(await this.hasContent(path, stats, oid))) this.moveAside(path);
  }

  /** Whether an earlier attempt has written it already; then it may be read. */
  private async hasContent(path: BytePath, stats: BigIntStats, oid: string): Promise<boolean> {
    const place = this.tools.inside.place(path);
    if ((stats.mode & S_IFMT) !== S_IFREG || place === undefined) return false;
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    const file = await openFile(place, flags).catch((err: unknown) => {
      if (isDenied(err)) return undefined;
      throw err;
    });
    if (!file) return false;
    try {
      const hash = blobHash(Number(stats.size));
      for await (const piece of file.createReadStream({ autoClose: false })) hash.update(piece as Buffer);
      return hash.digest('hex') === oid;
    } finally {
      await file.close();
    }
  }

  /** False if something is in it. */
  private removeFolder(path: BytePath): boolean {
    const { inside } = this.tools;
    const isRemoved = quietly(() => withPlace(inside.place(path), rmdirSync), ['ENOTEMPTY', 'EEXIST']);
    inside.forget();
    return isRemoved;
  }

  private moveAside(path: BytePath): void {
    const { inside, id } = this.tools;
    this.rename(path, asideOf(path, id, inside));
    inside.forget();
  }

  /** In the same folder. */
  private rename(from: BytePath, to: BytePath): void {
    const { inside } = this.tools;
    withPlace(inside.place(from), (old) => withPlace(inside.place(to), (place) => renameSync(old, place)));
  }

  private check(path: BytePath): void {
    const { reach } = this.tools;
    if (reach.mayChange(path)) return;
    throw Object.assign(new Error(`${reach.limit} keeps the agent from changing ${shownPath(path)}`), {
      code: 'EROFS',
    });
  }

  /** Lets us enter and write in a folder; its mode, and that of each on the way, is set at the end. */
  private open(path: BytePath): void {
    const { inside } = this.tools;
    for (const folder of ['', ...foldersOn(path), ...(path === '' ? [] : [path])]) {
      const stats = inside.folderStats(folder);
      if (stats && (Number(stats.mode) & OWNER_ALL) !== OWNER_ALL)
        withPlace(inside.folderPlace(folder), (place) => chmodSync(place, Number(stats.mode) | OWNER_ALL));
    }
  }
}

/** False if it fails because that is not there, or for one of these reasons. */
function quietly(work: () => void, reasons: string[] = []): boolean {
  try {
    work();
    return true;
  } catch (err) {
    if (isAway(err) || reasons.includes((err as NodeJS.ErrnoException).code ?? '')) return false;
    throw err;
  }
}

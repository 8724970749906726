// Reads the files that may have changed, and hands the contents of those that did to the store.
import { closeSync, constants, fstatSync, openSync, readSync, readlinkSync, type BigIntStats } from 'node:fs';
import { open } from 'node:fs/promises';
import type { SkippedFile } from '../../contracts/workspaces/checkpoints';
import { shownPath, type BytePath } from '../byte-path';
import { isAway, isDenied, type Inside } from '../files/inside';
import { FILE_PERMISSIONS, LINK_MODE } from '../git/facts';
import { blobHash, type ObjectWriter } from '../git/object-writer';
import type { Breather } from '../../system/processes/breather';
import type { IndexEntry, StatIndex } from './stat-index';

/** Larger files are read piece by piece, twice if they changed. */
const WHOLE_BYTES = 1_048_576;
const PIECE_BYTES = 262_144;
/** The kernel's clock for files ticks at least this often. */
const TICK_NS = 20_000_000n;
const SETTLED_NS = 2_000_000_000n;
const S_IFMT = 0o170000;
const KIND = { file: 0o100000, link: 0o120000, folder: 0o040000 };
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/** When the look began, and what follows for the times of files. */
export class LookTime {
  readonly beganNs = BigInt(Date.now()) * 1_000_000n;
  /** A file that changed before then and changes again has another second in its times, which git compares. */
  readonly settledNs = this.beganNs - SETTLED_NS;

  isSettled = ({ ctimeNs }: BigIntStats): boolean => ctimeNs < this.settledNs;
  /** '' if a change after reading could leave the same stamp. */
  stampOf = (stats: BigIntStats): string => (stats.ctimeNs + TICK_NS < this.beganNs ? stampOf(stats) : '');
}

export const stampOf = ({ ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  `${ino}.${size}.${mtimeNs}.${ctimeNs}`;

export interface ReadFiles {
  /** New entries of the index; null: removed. */
  entries: Map<BytePath, IndexEntry | null>;
  /** Those with another content or kind. */
  changed: Map<BytePath, 'added' | 'modified' | 'deleted'>;
  /** Permissions of the files that were looked at. */
  modes: Map<BytePath, number>;
  fresh: Map<BytePath, string>;
  /** Files that were left out. */
  left: SkippedFile[];
  /** With size and time, '' where those are not known: whether they changed since. */
  leftPaths: Map<BytePath, string>;
}

export interface ReadChoice {
  inside: Inside;
  index: () => StatIndex;
  fresh: ReadonlyMap<BytePath, string>;
  /** Others count as gone. */
  isReadable: (path: BytePath) => boolean;
  time: LookTime;
  maxFileBytes: number;
  /** The store's, begun when there is something to write. Throws if the store is full. */
  writer: (bytes: number) => ObjectWriter;
  breather: Breather;
}

/** @param paths sorted */
export async function readFiles(paths: Iterable<BytePath>, choice: ReadChoice): Promise<ReadFiles> {
  const reader = new FileReader(choice);
  for (const path of paths) {
    await choice.breather.breathe();
    await reader.read(path);
  }
  return reader.found;
}

class FileReader {
  readonly found: ReadFiles = {
    entries: new Map(),
    changed: new Map(),
    modes: new Map(),
    fresh: new Map(),
    left: [],
    leftPaths: new Map(),
  };

  constructor(private readonly choice: ReadChoice) {}

  async read(path: BytePath): Promise<void> {
    if (!this.choice.isReadable(path)) return this.gone(path);
    let stats: BigIntStats | undefined;
    try {
      stats = this.choice.inside.stats(path);
      const kind = stats && Number(stats.mode) & S_IFMT;
      if (stats && kind === KIND.link) await this.readLink(path, stats);
      else if (stats && kind === KIND.file) await this.readFile(path, stats);
      else this.gone(path);
    } catch (err) {
      if (isAway(err)) this.gone(path);
      else if (isDenied(err)) this.leave(path, 'this user may not read it', stats);
      else throw err;
    }
  }

  private gone(path: BytePath): void {
    if (!this.choice.index().find(path)) return;
    this.found.entries.set(path, null);
    this.found.changed.set(path, 'deleted');
  }

  /** It is no longer in the index, so that each look finds it again. */
  private leave(path: BytePath, why: string, stats: BigIntStats | undefined): void {
    this.found.left.push({ path: shownPath(path), why });
    this.found.leftPaths.set(path, stats ? `${stats.size}.${stats.mtimeNs}` : '');
    if (this.choice.index().find(path)) this.found.entries.set(path, null);
  }

  private async readLink(path: BytePath, stats: BigIntStats): Promise<void> {
    const place = this.choice.inside.place(path);
    if (place === undefined) return this.gone(path);
    const target = readlinkSync(place, { encoding: 'buffer' });
    await this.take(path, { mode: LINK_MODE, size: target.length, stats, content: target });
  }

  private async readFile(path: BytePath, seen: BigIntStats): Promise<void> {
    const { inside, maxFileBytes, fresh, index } = this.choice;
    if (seen.size > BigInt(maxFileBytes))
      return this.leave(path, `it is larger than ${maxFileBytes} bytes`, seen);
    const before = index().find(path);
    if (before && fresh.get(path) === stampOf(seen)) return this.note(path, { ...before, stats: seen });
    const place = inside.place(path);
    if (place === undefined) return this.gone(path);
    const fd = openSync(place, READ);
    try {
      const stats = fstatSync(fd, { bigint: true });
      if ((Number(stats.mode) & S_IFMT) !== KIND.file) return this.gone(path);
      const size = Number(stats.size);
      const mode = (Number(stats.mode) & 0o100) === 0 ? 0o100644 : 0o100755;
      this.found.modes.set(path, Number(stats.mode) & FILE_PERMISSIONS);
      if (size > WHOLE_BYTES) await this.takeLarge(path, { fd, mode, size, stats });
      else {
        const content = wholeOf(fd, size);
        const isSame = stampOf(fstatSync(fd, { bigint: true })) === stampOf(stats);
        await this.take(path, { mode, size: content.length, content, stats: isSame ? stats : undefined });
      }
    } finally {
      closeSync(fd);
    }
  }

  private async take(
    path: BytePath,
    { content, ...file }: Omit<IndexEntry, 'oid'> & { content: Buffer },
  ): Promise<void> {
    const oid = blobHash(content.length).update(content).digest('hex');
    if (this.isOther(path, file.mode, oid)) await this.choice.writer(content.length).blob(content);
    this.note(path, { ...file, oid });
  }

  private async takeLarge(
    path: BytePath,
    { fd, ...file }: Omit<IndexEntry, 'oid'> & { fd: number },
  ): Promise<void> {
    const { size } = file;
    let hash = blobHash(size);
    for await (const piece of piecesOf(fd, size)) hash.update(piece);
    let oid = hash.digest('hex');
    if (this.isOther(path, file.mode, oid)) {
      // What is written now counts: it may have changed since.
      const written = (hash = blobHash(size));
      const pieces = async function* (): AsyncGenerator<Buffer> {
        for await (const piece of piecesOf(fd, size)) {
          written.update(piece);
          yield piece;
        }
      };
      await this.choice.writer(size).stream(size, pieces());
      oid = written.digest('hex');
    }
    const isSame = file.stats && stampOf(fstatSync(fd, { bigint: true })) === stampOf(file.stats);
    this.note(path, { ...file, oid, stats: isSame ? file.stats : undefined });
  }

  private isOther(path: BytePath, mode: number, oid: string): boolean {
    const before = this.choice.index().find(path);
    const kind = before === undefined || before.oid !== oid ? 'modified' : undefined;
    if (kind ?? before?.mode !== mode) this.found.changed.set(path, before ? 'modified' : 'added');
    return kind !== undefined;
  }

  private note(path: BytePath, entry: IndexEntry): void {
    const { time } = this.choice;
    const isSettled = entry.stats !== undefined && time.isSettled(entry.stats);
    this.found.entries.set(path, isSettled ? entry : { ...entry, stats: undefined });
    if (!isSettled) this.found.fresh.set(path, entry.stats ? time.stampOf(entry.stats) : '');
  }
}

/** The file's content, which may have another length by now. */
function wholeOf(fd: number, size: number): Buffer {
  const buffer = Buffer.alloc(size);
  let at = 0;
  while (at < size) {
    const read = readSync(fd, buffer, at, size - at, at);
    if (read === 0) break;
    at += read;
  }
  return buffer.subarray(0, at);
}

/** Exactly this many bytes: a file that became shorter ends in zeros, and is read again by the next look. */
async function* piecesOf(fd: number, size: number): AsyncGenerator<Buffer> {
  const file = await open(`/proc/self/fd/${fd}`, 'r');
  try {
    for (let at = 0; at < size;) {
      const piece = Buffer.alloc(Math.min(PIECE_BYTES, size - at));
      const { bytesRead } = await file.read(piece, 0, piece.length, at);
      at += bytesRead || piece.length;
      yield bytesRead === 0 ? piece : piece.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

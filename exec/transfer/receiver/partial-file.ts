// A file that is still being received, beside the one that it will become. Its name says which content it is for, so
// that an interrupted transfer finds it. One transfer at a time has it: under a name of its own, whose times it keeps
// moving. A file that another process may have open is never written, nor renamed to the target: a suspended process
// can go on at any time, even between a check and a write. It is copied.
import { createHash, randomBytes, type Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { PERMISSIONS, type OpenFolder } from '../open-folder';
import { PartLost } from '../transfer-errors';
import type { Name } from '../transfer-messages';

const BEAT_MS = 500;
/** Who has a file moves its times more often than this. */
const STALE_MS = 4 * BEAT_MS;
const READ_BYTES = 1024 * 1024;
/** Less is sent again. */
const WORTH_KEEPING = 1024 * 1024;
/** Read once: reading the umask sets it for a moment. */
const NEW_FILE = 0o666 & ~process.umask();
export const CONTENT_ID = /^[0-9a-f]{20}$/;

/** What a file is to hold: its id is the sender's, for this content and no other. */
export interface Content {
  id: string;
  size: number;
}

const freeName = ({ id, size }: Content): Name => `.holdfast-${id}-${size}.part`;
const ownName = (content?: Content): Name =>
  `.holdfast-${content ? `${content.id}-${content.size}` : 'new'}.${randomBytes(4).toString('hex')}.part`;
/** What a copy has not put in place yet, or never will. */
export const isTemporary = (name: Name): boolean => /^\.holdfast-(.+\.part|link\.[0-9a-f]{8})$/.test(name);
const isTaken = (name: Name, { id, size }: Content): boolean =>
  name.startsWith(`.holdfast-${id}-${size}.`) && /\.[0-9a-f]{8}\.part$/.test(name);

export class PartialFile {
  /** Bytes that it holds, of which `hash` knows. */
  size = 0;
  private hash: Hash = createHash('sha256');
  private readonly beat: NodeJS.Timeout;
  private isOver = false;
  /** Only to end early: what it writes then is in no file that has a name. */
  private isLost = false;

  private constructor(
    private readonly folder: OpenFolder,
    private readonly name: Name,
    private readonly file: FileHandle,
    private readonly content: Content | undefined,
  ) {
    this.beat = setInterval(() => {
      const now = new Date();
      file.utimes(now, now).catch(() => undefined);
      this.isLost ||= !this.hasName();
    }, BEAT_MS).unref();
  }

  /** With `content`, what an earlier transfer left of it. Throws file system errors. */
  static async open(folder: OpenFolder, content?: Content): Promise<PartialFile> {
    const left = content && (await claim(folder, content));
    if (content && left) {
      const found = await PartialFile.adopt(folder, left, content);
      if (found) return found;
      folder.remove(left.name);
    }
    return PartialFile.create(folder, content);
  }

  private static async create(folder: OpenFolder, content?: Content): Promise<PartialFile> {
    const name = ownName(content);
    return new PartialFile(folder, name, await folder.create(name), content);
  }

  /** How many bytes of it are there; nothing changes. */
  static sizeOf(folder: OpenFolder, content: Content): number {
    const sizes = [freeName(content), ...folder.names().filter((name) => isTaken(name, content))].map(
      (name) => folder.look(name)?.size ?? 0n,
    );
    const most = Number(sizes.reduce((a, b) => (a > b ? a : b), 0n));
    return most <= content.size ? most : 0;
  }

  /** Somebody else may have put a link, a pipe or a file with two names there. */
  private static async adopt(
    folder: OpenFolder,
    { name, isClosed }: Left,
    content: Content,
  ): Promise<PartialFile | undefined> {
    const file = await folder.reopen(name).catch(() => undefined);
    const stats = await file?.stat();
    const isOurs = stats?.isFile() && stats.nlink === 1 && stats.uid === process.geteuid?.();
    if (file && stats && isOurs && stats.size <= content.size) {
      if (!isClosed) return PartialFile.copyOf(folder, { name, file, size: stats.size }, content);
      const partial = new PartialFile(folder, name, file, content);
      await partial.rehash(stats.size);
      return partial;
    }
    await file?.close();
    return undefined;
  }

  /** Its bytes in a file of our own. Undefined if the disk is too full for both: then it is sent again. */
  private static async copyOf(
    folder: OpenFolder,
    { name, file, size }: { name: Name; file: FileHandle; size: number },
    content: Content,
  ): Promise<PartialFile | undefined> {
    const partial = await PartialFile.create(folder, content);
    try {
      await eachPiece(file, size, (piece) => partial.append(piece));
      folder.remove(name);
      return partial;
    } catch {
      await partial.discard();
      return undefined;
    } finally {
      await file.close();
    }
  }

  /** The sum of its bytes so far, in hexadecimal. */
  get sha256(): string {
    return this.hash.copy().digest('hex');
  }

  /** Forgets everything behind. */
  async cutAt(offset: number): Promise<void> {
    if (offset === this.size) return;
    await this.file.truncate(offset);
    await this.rehash(offset);
  }

  /** Throws `PartLost`. */
  async append(data: Buffer): Promise<void> {
    if (this.isLost) throw new PartLost();
    this.hash.update(data);
    for (let at = 0; at < data.length;) {
      const { bytesWritten } = await this.file.write(data, at, data.length - at, this.size);
      at += bytesWritten;
      this.size += bytesWritten;
    }
  }

  /**
   * It becomes `name`, with this mode, or with 'own' that of the file that it replaces; what was there is replaced, or
   * with `clobber: false` kept: EEXIST. Throws `PartLost` if another transfer has taken it over: of the two renames only
   * one succeeds.
   */
  async commit(name: Name, { mode, clobber }: { mode: number | 'own'; clobber: boolean }): Promise<void> {
    clearInterval(this.beat);
    try {
      await this.file.chmod((mode === 'own' ? this.ownMode(name) : mode) & PERMISSIONS);
      await this.file.sync();
      if (this.isLost) throw new PartLost();
      if (clobber) this.folder.rename(this.name, name);
      else this.folder.place(this.name, name);
      this.isOver = true;
    } catch (err) {
      throw this.hasName() ? err : new PartLost();
    } finally {
      await this.discard();
    }
  }

  /** For the next transfer of the same content, unless it is little. */
  async keep(): Promise<void> {
    if (!this.content || this.size < WORTH_KEEPING) return this.discard();
    clearInterval(this.beat);
    this.isOver = true;
    await this.file.close();
    try {
      this.folder.rename(this.name, freeName(this.content));
    } catch {
      // Its folder is gone, or may not be written any more.
    }
  }

  async discard(): Promise<void> {
    clearInterval(this.beat);
    await this.file.close();
    if (!this.isOver) this.folder.remove(this.name);
    this.isOver = true;
  }

  private ownMode(name: Name): number {
    const there = this.folder.look(name);
    return there?.isFile() ? Number(there.mode) : NEW_FILE;
  }

  private hasName(): boolean {
    try {
      return this.folder.look(this.name) !== undefined;
    } catch {
      return true;
    }
  }

  private async rehash(size: number): Promise<void> {
    this.hash = createHash('sha256');
    this.size = 0;
    await eachPiece(this.file, size, (piece) => {
      this.hash.update(piece);
      this.size += piece.length;
    });
  }
}

/** From the first byte on; fewer than `size` if the file is shorter by now. A piece is valid until the next one. */
async function eachPiece(
  file: FileHandle,
  size: number,
  take: (piece: Buffer) => void | Promise<void>,
): Promise<void> {
  const piece = Buffer.allocUnsafe(READ_BYTES);
  for (let at = 0; at < size;) {
    const { bytesRead } = await file.read(piece, 0, Math.min(READ_BYTES, size - at), at);
    if (bytesRead === 0) break;
    await take(piece.subarray(0, bytesRead));
    at += bytesRead;
  }
}

/** What an earlier transfer has left, now under a name of ours. */
interface Left {
  name: Name;
  /** Its transfer had closed it. Otherwise it was killed, or is suspended and still has it open. */
  isClosed: boolean;
}

/** What is there of the content: a rename succeeds once. Undefined if none was left. */
async function claim(folder: OpenFolder, content: Content): Promise<Left | undefined> {
  const own = ownName(content);
  if (isRenamed(folder, freeName(content), own)) return { name: own, isClosed: true };
  const taken = folder.names().filter((name) => isTaken(name, content));
  const state = (name: Name): string => {
    const stats = folder.look(name);
    return `${stats?.mtimeNs} ${stats?.size}`;
  };
  const before = taken.map(state);
  // Their owners are at work, about to leave, were killed, or are suspended.
  for (let waited = 0; taken.length > 0 && waited < STALE_MS; waited += BEAT_MS / 2) {
    await delay(BEAT_MS / 2);
    if (isRenamed(folder, freeName(content), own)) return { name: own, isClosed: true };
  }
  const sizeOf = (name: Name): number => Number(folder.look(name)?.size ?? -1);
  const [left, ...others] = taken
    .filter((name, at) => state(name) === before[at] && sizeOf(name) >= 0)
    .sort((a, b) => sizeOf(b) - sizeOf(a));
  if (left === undefined || !isRenamed(folder, left, own)) return undefined;
  // Of a transfer that was killed while it copied one.
  for (const other of others) folder.remove(other);
  return { name: own, isClosed: false };
}

function isRenamed(folder: OpenFolder, from: Name, to: Name): boolean {
  try {
    folder.rename(from, to);
    return true;
  } catch {
    return false;
  }
}

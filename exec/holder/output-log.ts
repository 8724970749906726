// The session's append-only output log. A full disk stalls the terminal and loses nothing, and a log that somebody
// deletes is written back: what the descriptor leads to stays whole as long as it is open.
import {
  closeSync,
  fdatasync,
  fstatSync,
  openSync,
  readSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs';
import { removeQuietly } from '../json-file';
import { storageReason } from '../storage-failure';

const RETRY_MS = 250;
const PIECE_BYTES = 1024 * 1024;

export class OutputLog {
  private fd: number;
  private size: number;
  private backlog: Buffer[] = [];
  private onSpace: () => void = () => undefined;
  private why: string | null = null;
  /** Why it could not be written back. */
  private goneWhy: string | null = null;

  constructor(private readonly path: string) {
    // Read, too: what was deleted is read through it.
    this.fd = openSync(path, 'a+', 0o600);
    this.size = fstatSync(this.fd).size;
  }

  /** Size in bytes: the offset at which the next output begins. */
  get end(): number {
    return this.size;
  }

  /** The offset behind all that was appended, written or not. */
  get accepted(): number {
    return this.backlog.reduce((sum, data) => sum + data.length, this.size);
  }

  /** True while the disk takes nothing; the caller pauses the terminal until `onSpace`. */
  get isStalled(): boolean {
    return this.backlog.length > 0;
  }

  /** Why the disk takes nothing; null while it does. */
  get fault(): string | null {
    return this.why ?? this.goneWhy;
  }

  /**
   * Writes the log back under its name where it was deleted, moved away or replaced. Where that cannot be done, `fault`
   * tells why, and the next call tries it again; what is printed meanwhile is kept.
   */
  restoreIfGone(): void {
    try {
      if (!this.isGone()) return void (this.goneWhy = null);
      const fd = this.copy();
      closeSync(this.fd);
      this.fd = fd;
      this.goneWhy = null;
    } catch (err) {
      this.goneWhy = `the log ${this.path} was deleted and cannot be written back: ${storageReason(err)}`;
    }
  }

  private isGone(): boolean {
    const ours = fstatSync(this.fd);
    const there = statSync(this.path, { throwIfNoEntry: false });
    return there?.ino !== ours.ino || there.dev !== ours.dev;
  }

  /** A new file of the same content, which has the log's name when it is whole. */
  private copy(): number {
    const temporary = `${this.path}.${process.pid}.tmp`;
    removeQuietly(temporary);
    const fd = openSync(temporary, 'ax+', 0o600);
    try {
      const piece = Buffer.allocUnsafe(PIECE_BYTES);
      for (let at = 0, read = 1; read > 0; at += read) {
        read = readSync(this.fd, piece, 0, PIECE_BYTES, at);
        for (let done = 0; done < read;) done += writeSync(fd, piece, done, read - done);
      }
      renameSync(temporary, this.path);
      return fd;
    } catch (err) {
      closeSync(fd);
      removeQuietly(temporary);
      throw err;
    }
  }

  /** Appends, or keeps the bytes and calls the last `onSpace` that was given once all are written. */
  append(data: Buffer, onSpace: () => void): void {
    this.onSpace = onSpace;
    this.backlog.push(data);
    if (this.backlog.length === 1) this.write();
  }

  sync(): void {
    fdatasync(this.fd, () => undefined);
  }

  private write(): void {
    try {
      for (let head = this.backlog[0]; head; head = this.backlog[0]) {
        const written = writeSync(this.fd, head);
        this.size += written;
        if (written < head.length) this.backlog[0] = head.subarray(written);
        else this.backlog.shift();
      }
      this.why = null;
    } catch (err) {
      this.why = storageReason(err);
      setTimeout(() => {
        this.write();
        if (!this.isStalled) this.onSpace();
      }, RETRY_MS);
    }
  }
}

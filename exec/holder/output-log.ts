// The session's append-only output log. A full disk stalls the terminal and loses nothing, and a deleted log is written
// back: the open descriptor keeps its content. Truncated output is lost, and at the size limit the oldest part is
// dropped; offsets stay the same in both cases.
import {
  close,
  closeSync,
  fdatasync,
  fstatSync,
  ftruncateSync,
  open,
  openSync,
  readSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs';
import { DEFAULT_QUOTAS } from '../../contracts/sessions/quotas';
import { removeQuietly } from '../../system/json-file';
import { removeSegment, segmentBytesOf, segmentPath, segmentsOf, type Segment } from '../output/log-segments';
import { recordLoss } from '../output/lost-parts';
import { storageReason } from '../../system/storage-failure';

const RETRY_MS = 250;
const PIECE_BYTES = 1024 * 1024;

export class OutputLog {
  private fd: number;
  private size: number;
  /** The file being written, and the offset at which it begins. */
  private current: { path: string; from: number };
  /** The files before it, oldest first. */
  private readonly older: Pick<Segment, 'path' | 'from'>[];
  private readonly segmentBytes: number;
  private unsynced: string[] = [];
  private backlog: Buffer[] = [];
  private onSpace: () => void = () => undefined;
  private why: string | null = null;
  /** Why the log could not be restored. */
  private harm: string | null = null;

  /** @param knownEnd how far it was written, by the records of its commands */
  constructor(
    private readonly path: string,
    private readonly maxBytes = DEFAULT_QUOTAS.sessionLogBytes,
    knownEnd = 0,
  ) {
    this.segmentBytes = segmentBytesOf(maxBytes);
    const segments = segmentsOf(path);
    const last = segments.pop() ?? { path, from: 0 };
    this.older = segments;
    this.current = last;
    // Also opened for reading: a deleted file is read through its descriptor.
    this.fd = openSync(last.path, 'a+', 0o600);
    this.size = Math.max(last.from + fstatSync(this.fd).size, knownEnd);
    this.restore();
  }

  /** The offset at which the next output begins. */
  get end(): number {
    return this.size;
  }

  /** The offset after everything that was appended, written or not. */
  get accepted(): number {
    return this.backlog.reduce((sum, data) => sum + data.length, this.size);
  }

  /** True while the disk accepts nothing; the caller pauses the terminal until `onSpace`. */
  get isStalled(): boolean {
    return this.backlog.length > 0;
  }

  /** Why the disk accepts nothing; null while it does. */
  get fault(): string | null {
    return this.why ?? this.harm;
  }

  /**
   * Writes a deleted, moved or replaced log back under its name, and extends a truncated one to its former length. If
   * that fails, `fault` says why and the next call retries; output is kept meanwhile.
   */
  restore(): void {
    let what = 'was truncated and cannot be extended again';
    try {
      this.fillUp();
      what = 'was deleted and cannot be written back';
      this.writeBack();
      this.harm = null;
    } catch (err) {
      this.harm = `the log ${this.current.path} ${what}: ${storageReason(err)}`;
    }
  }

  /**
   * Restores its former length. Bytes that others have appended are not output, and are removed.
   * @param misplaced bytes at its end that were written at a wrong offset
   */
  private fillUp(misplaced = 0): void {
    const { from } = this.current;
    const kept = from + Math.max(0, fstatSync(this.fd).size - misplaced);
    if (kept === this.size) return;
    ftruncateSync(this.fd, Math.min(kept, this.size) - from);
    if (kept > this.size) return;
    // Before the zeros are there: readers who find zeros check the record.
    recordLoss(this.path, { from: kept, to: this.size }, this.older[0]?.from ?? from);
    ftruncateSync(this.fd, this.size - from);
  }

  private writeBack(): void {
    if (!this.isGone()) return;
    const fd = this.copy();
    closeSync(this.fd);
    this.fd = fd;
  }

  private isGone(): boolean {
    const ours = fstatSync(this.fd);
    const there = statSync(this.current.path, { throwIfNoEntry: false });
    return there?.ino !== ours.ino || there.dev !== ours.dev;
  }

  /** A new file with the same content, which is renamed to the log when complete. */
  private copy(): number {
    const { path } = this.current;
    const temporary = `${path}.${process.pid}.tmp`;
    removeQuietly(temporary);
    const fd = openSync(temporary, 'ax+', 0o600);
    try {
      const piece = Buffer.allocUnsafe(PIECE_BYTES);
      for (let at = 0, read = 1; read > 0; at += read) {
        read = readSync(this.fd, piece, 0, PIECE_BYTES, at);
        for (let done = 0; done < read;) done += writeSync(fd, piece, done, read - done);
      }
      renameSync(temporary, path);
      return fd;
    } catch (err) {
      closeSync(fd);
      removeQuietly(temporary);
      throw err;
    }
  }

  /** Appends, or keeps the bytes and calls the latest `onSpace` once all are written. */
  append(data: Buffer, onSpace: () => void): void {
    this.onSpace = onSpace;
    this.backlog.push(data);
    if (this.backlog.length === 1) this.write();
  }

  sync(): void {
    fdatasync(this.fd, () => undefined);
    for (const path of this.unsynced.splice(0)) syncFile(path);
  }

  private write(): void {
    try {
      for (let head = this.backlog[0]; head; head = this.backlog[0]) {
        if (this.room <= 0) this.beginSegment();
        const written = this.writeSome(head) ?? this.writeSome(head);
        // Pause to serve requests, in case somebody truncates it continuously.
        if (written === undefined) throw new Error(`the log ${this.path} was changed while it was written`);
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

  /**
   * Returns the number of bytes written; undefined if somebody else truncated or appended to the log. Then its length
   * is restored, and nothing was written. One check after the write detects anything that happened before it.
   */
  private writeSome(data: Buffer): number | undefined {
    const written = writeSync(this.fd, data, 0, Math.min(data.length, this.room));
    if (this.current.from + fstatSync(this.fd).size === this.size + written) return written;
    this.fillUp(written);
    return undefined;
  }

  /** Remaining capacity of the file being written. */
  private get room(): number {
    return this.current.from + this.segmentBytes - this.size;
  }

  /** Throws if that fails: an unbounded log would fill the shared disk. */
  private beginSegment(): void {
    this.dropOldest();
    // Once its descriptor is closed, a deleted file is gone.
    this.writeBack();
    const { path, from } = this.current;
    const next = { path: segmentPath(this.path, this.size), from: this.size };
    const fd = openSync(next.path, 'a+', 0o600);
    closeSync(this.fd);
    this.fd = fd;
    this.older.push({ path, from });
    this.unsynced.push(path);
    this.current = next;
  }

  /** Keeps at least the limit minus two segments: the one that is full, and the new one. */
  private dropOldest(): void {
    const kept = this.maxBytes - 2 * this.segmentBytes;
    for (let [oldest] = this.older; oldest; [oldest] = this.older) {
      const rest = this.size - (this.older[1] ?? this.current).from;
      if (rest < kept) return;
      removeSegment(oldest);
      this.older.shift();
      this.unsynced = this.unsynced.filter((path) => path !== oldest.path);
    }
  }
}

/** Best effort: a machine that loses power loses its sessions too. */
function syncFile(path: string): void {
  open(path, 'r', (failure, fd) => {
    if (!failure) fdatasync(fd, () => close(fd, () => undefined));
  });
}

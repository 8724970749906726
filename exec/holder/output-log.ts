// The session's append-only output log. A full disk stalls the terminal and loses nothing, and a log that somebody
// deletes is written back: what the descriptor leads to stays whole as long as it is open. What somebody truncates is
// lost, and where the log has reached its limit, its oldest part is dropped: offsets stay what they are all the same.
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
import { DEFAULT_QUOTAS } from '../../contracts/quotas';
import { removeQuietly } from '../json-file';
import { removeSegment, segmentBytesOf, segmentPath, segmentsOf, type Segment } from '../log-segments';
import { recordLoss } from '../lost-parts';
import { storageReason } from '../storage-failure';

const RETRY_MS = 250;
const PIECE_BYTES = 1024 * 1024;

export class OutputLog {
  private fd: number;
  private size: number;
  /** The file that is written now, and the offset at which it begins. */
  private current: { path: string; from: number };
  /** Those before it, the oldest first. */
  private readonly older: Pick<Segment, 'path' | 'from'>[];
  private readonly segmentBytes: number;
  private unsynced: string[] = [];
  private backlog: Buffer[] = [];
  private onSpace: () => void = () => undefined;
  private why: string | null = null;
  /** Why it could not be made whole. */
  private harm: string | null = null;

  /** @param knownEnd up to where it was written, by the records of its commands */
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
    // Read, too: what was deleted is read through it.
    this.fd = openSync(last.path, 'a+', 0o600);
    this.size = Math.max(last.from + fstatSync(this.fd).size, knownEnd);
    this.restore();
  }

  /** The offset at which the next output begins. */
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
    return this.why ?? this.harm;
  }

  /**
   * Writes the log back under its name where it was deleted, moved away or replaced, and makes it as long again as it was
   * where it was truncated. Where that cannot be done, `fault` tells why, and the next call tries it again; what is
   * printed meanwhile is kept.
   */
  restore(): void {
    let what = 'was truncated and cannot be filled up';
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
   * Makes it as long as it was. What others have appended is no output, and goes.
   * @param misplaced bytes at its end that were written at another offset than theirs
   */
  private fillUp(misplaced = 0): void {
    const { from } = this.current;
    const kept = from + Math.max(0, fstatSync(this.fd).size - misplaced);
    if (kept === this.size) return;
    if (kept < this.size) {
      // First: readers who find zeros look there.
      recordLoss(this.path, { from: kept, to: this.size }, this.older[0]?.from ?? from);
      ftruncateSync(this.fd, kept - from);
    }
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

  /** A new file of the same content, which has the log's name when it is whole. */
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

  /** Appends, or keeps the bytes and calls the last `onSpace` that was given once all are written. */
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
        this.fillUp();
        if (this.room <= 0) this.beginSegment();
        const written = writeSync(this.fd, head, 0, Math.min(head.length, this.room));
        // Truncated in this very moment, it has another offset: it is written again, after a pause in which requests are
        // served, should somebody truncate it without end.
        if (this.current.from + fstatSync(this.fd).size !== this.size + written) {
          this.fillUp(written);
          throw new Error(`the log ${this.path} was changed while it was written`);
        }
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

  /** What the file that is written now still takes. */
  private get room(): number {
    return this.current.from + this.segmentBytes - this.size;
  }

  /** Throws where that cannot be done: a log without a bound would fill the disk of all. */
  private beginSegment(): void {
    this.dropOldest();
    // Behind its descriptor nobody finds it any more.
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

  /** Leaves at least the limit without two segments: the one that is full, and the one that comes. */
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

/** Its end on the disk is no condition of anything: a machine that loses its power loses its sessions, too. */
function syncFile(path: string): void {
  open(path, 'r', (failure, fd) => {
    if (!failure) fdatasync(fd, () => close(fd, () => undefined));
  });
}

// The session's append-only output log. A full disk stalls the terminal and loses nothing.
import { fdatasync, fstatSync, openSync, writeSync } from 'node:fs';
import { storageReason } from '../storage-failure';

const RETRY_MS = 250;

export class OutputLog {
  private readonly fd: number;
  private size: number;
  private backlog: Buffer[] = [];
  private onSpace: () => void = () => undefined;
  private why: string | null = null;

  constructor(path: string) {
    this.fd = openSync(path, 'a', 0o600);
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
    return this.why;
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

// The session's append-only output log. A full disk stalls the terminal and loses nothing.
import { fdatasync, fstatSync, openSync, writeSync } from 'node:fs';

const RETRY_MS = 250;

export class OutputLog {
  private readonly fd: number;
  private size: number;
  private backlog: Buffer[] = [];

  constructor(path: string) {
    this.fd = openSync(path, 'a', 0o600);
    this.size = fstatSync(this.fd).size;
  }

  /** Size in bytes: the offset at which the next output begins. */
  get end(): number {
    return this.size;
  }

  /** True while the disk takes nothing; the caller pauses the terminal until `onSpace`. */
  get isStalled(): boolean {
    return this.backlog.length > 0;
  }

  /** Appends, or keeps the bytes and calls `onSpace` once they are written. */
  append(data: Buffer, onSpace: () => void): void {
    if (this.isStalled) this.backlog.push(data);
    else this.write([data], onSpace);
  }

  sync(): void {
    fdatasync(this.fd, () => undefined);
  }

  private write(buffers: Buffer[], onSpace: () => void): void {
    this.backlog = buffers;
    try {
      for (let head = this.backlog[0]; head; head = this.backlog[0]) {
        const written = writeSync(this.fd, head);
        this.size += written;
        if (written < head.length) this.backlog[0] = head.subarray(written);
        else this.backlog.shift();
      }
    } catch {
      setTimeout(() => {
        this.write(this.backlog, onSpace);
        if (!this.isStalled) onSpace();
      }, RETRY_MS);
    }
  }
}

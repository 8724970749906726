// Reads the newest output of a session's log again and again, as an attached person does with every key.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { nextPiece, type Piece } from './log-reader';
import { segmentsOf } from './log-segments';
import { mayHaveLostParts } from './lost-parts';

export class TailReader {
  /** The last file of the log, and the offset of its first byte. */
  private last: { fd: number; from: number } | null = null;
  private isClosed = false;

  constructor(private readonly log: string) {}

  /** Like `nextPiece`. What is at the end of the log needs no look at its other files. */
  next(from: number, to: number): Piece {
    const data = this.atEnd(from, to);
    if (data) return { data, from, to };
    const piece = nextPiece(this.log, from, to);
    if (!this.reaches(to)) this.openLast();
    return piece;
  }

  close(): void {
    this.isClosed = true;
    this.forget();
  }

  private forget(): void {
    if (this.last) closeSync(this.last.fd);
    this.last = null;
  }

  /** Undefined unless the file that was last is still there, ends exactly at `to`, and lacks nothing. */
  private atEnd(from: number, to: number): Buffer | undefined {
    if (!this.last || from < this.last.from || from >= to) return undefined;
    const { fd, from: start } = this.last;
    const { nlink, size } = fstatSync(fd);
    if (nlink === 0 || start + size !== to) return undefined;
    const data = Buffer.allocUnsafe(to - from);
    const isWhole = readSync(fd, data, 0, data.length, from - start) === data.length;
    // After the data: a loss is recorded before zeros take its place.
    return isWhole && !mayHaveLostParts(this.log) ? data : undefined;
  }

  /** While output is read in parts, the file stays the right one. */
  private reaches(to: number): boolean {
    if (!this.last) return false;
    const { nlink, size } = fstatSync(this.last.fd);
    return nlink > 0 && this.last.from + size >= to;
  }

  private openLast(): void {
    this.forget();
    if (this.isClosed) return;
    try {
      const last = segmentsOf(this.log).at(-1);
      if (last) this.last = { fd: openSync(last.path, 'r'), from: last.from };
    } catch {
      // Removed meanwhile, or no descriptors are left: the next look decides.
    }
  }
}

// Reads a session's log by offset, a bounded piece at a time. Any number of readers slow nobody.
import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { dirname } from 'node:path';
import { HoldfastError } from '../contracts/errors';
import { asStorageFailure } from './storage-failure';

/** Size of the log in bytes; 0 where there is none yet. */
export function logEnd(path: string): number {
  return withLog(path, (fd) => fstatSync(fd).size) ?? 0;
}

/** The bytes from `from` up to `to` (exclusive), fewer where the log ends before. Throws `offset_out_of_range`, and
 * `storage_failed` where the log is gone. */
export function readLog(path: string, from: number, to: number): Buffer {
  const read = withLog(path, (fd) => {
    const end = fstatSync(fd).size;
    if (from < 0 || from > end) throw new HoldfastError('offset_out_of_range', { got: from, allowed: end });
    const data = Buffer.alloc(Math.max(0, Math.min(to, end) - from));
    return data.subarray(0, readSync(fd, data, 0, data.length, from));
  });
  if (read === undefined && from > 0) {
    // A session that is there has a log: a holder that lives writes a deleted one back, one that is dead cannot.
    if (existsSync(dirname(path)))
      throw new HoldfastError('storage_failed', { reason: `the log ${path} was deleted or moved away` });
    throw new HoldfastError('offset_out_of_range', { got: from, allowed: 0 });
  }
  return read ?? Buffer.alloc(0);
}

const PIECE_BYTES = 1024 * 1024;
/** A look at a log of gigabytes must not read all of it: counting this much costs about 16 ms. */
const COUNTED_BYTES = 16 * PIECE_BYTES;

/** Line ends between two offsets, counted in bounded pieces; undefined where that is too much to read for a look. */
export async function countLines(path: string, from: number, to: number): Promise<number | undefined> {
  if (to - from > COUNTED_BYTES) return undefined;
  let lines = 0;
  for (let at = from; at < to; at += PIECE_BYTES) {
    for (const byte of readLog(path, at, Math.min(at + PIECE_BYTES, to))) if (byte === 0x0a) lines += 1;
    // Other sessions' readers are served between two pieces.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return lines;
}

function withLog<T>(path: string, use: (fd: number) => T): T | undefined {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw asStorageFailure(err);
  }
  try {
    return use(fd);
  } finally {
    closeSync(fd);
  }
}

// Reads a session's log by offset, a bounded piece at a time. Any number of readers slow nobody.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { HoldfastError } from '../contracts/errors';

/** Size of the log in bytes; 0 where there is none yet. */
export function logEnd(path: string): number {
  return withLog(path, (fd) => fstatSync(fd).size) ?? 0;
}

/** The bytes from `from` up to `to` (exclusive), fewer where the log ends before. Throws `offset_out_of_range`. */
export function readLog(path: string, from: number, to: number): Buffer {
  const read = withLog(path, (fd) => {
    const end = fstatSync(fd).size;
    if (from < 0 || from > end) throw new HoldfastError('offset_out_of_range', { got: from, allowed: end });
    const data = Buffer.alloc(Math.max(0, Math.min(to, end) - from));
    return data.subarray(0, readSync(fd, data, 0, data.length, from));
  });
  if (read === undefined && from > 0)
    throw new HoldfastError('offset_out_of_range', { got: from, allowed: 0 });
  return read ?? Buffer.alloc(0);
}

function withLog<T>(path: string, use: (fd: number) => T): T | undefined {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw err;
  }
  try {
    return use(fd);
  } finally {
    closeSync(fd);
  }
}

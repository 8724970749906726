// Reads a session's log by offset, a bounded piece at a time. Any number of readers slow nobody.
import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import { dirname } from 'node:path';
import { HoldfastError } from '../contracts/errors';
import { endOf, segmentsOf, type Segment } from './log-segments';
import { asStorageFailure } from './storage-failure';

/** The oldest part may be removed between a look and the read: each time the log has moved on by a segment. */
const ATTEMPTS = 10;

/** Offset behind the log's last byte; 0 where there is none yet. */
export const logEnd = (path: string): number => endOf(look(path));

/** Offset of the first byte that is still there: what was before has been dropped. */
export const logStart = (path: string): number => look(path)[0]?.from ?? 0;

/**
 * The bytes from `from` up to `to` (exclusive), fewer where the log ends before. Throws `offset_out_of_range`, also for
 * what has been dropped, and `storage_failed` where the log is gone.
 */
export function readLog(path: string, from: number, to: number): Buffer {
  for (let attempt = 1; ; attempt++) {
    const segments = look(path);
    const [first] = segments;
    if (!first) return noLog(path, from);
    const end = endOf(segments);
    if (from < first.from || from > end)
      throw new HoldfastError('offset_out_of_range', { got: from, from: first.from, allowed: end });
    try {
      return readSegments(segments, from, Math.min(to, end));
    } catch (err) {
      const isRemoved = (err as NodeJS.ErrnoException).code === 'ENOENT';
      if (!isRemoved || attempt === ATTEMPTS) throw asStorageFailure(err);
    }
  }
}

/** As `readLog`, but from the first byte that is still there, as many; `from` says where that is. */
export function readKept(path: string, from: number, to: number): { data: Buffer; from: number } {
  for (let at = from, attempt = 1; ; attempt++) {
    try {
      return { data: readLog(path, at, at + to - from), from: at };
    } catch (err) {
      if (!wasDropped(err) || attempt === ATTEMPTS) throw err;
      at = logStart(path);
    }
  }
}

/** Whether a read failed because what it asked for is not kept any more. */
export function wasDropped(err: unknown): boolean {
  if (!(err instanceof HoldfastError) || err.code !== 'offset_out_of_range') return false;
  const { got, from = 0 } = err.facts;
  return Number(got) >= 0 && Number(got) < Number(from);
}

function look(path: string): Segment[] {
  try {
    return segmentsOf(path);
  } catch (err) {
    throw asStorageFailure(err);
  }
}

function noLog(path: string, from: number): Buffer {
  if (from === 0) return Buffer.alloc(0);
  // A session that is there has a log: a holder that lives writes a deleted one back, one that is dead cannot.
  if (existsSync(dirname(path)))
    throw new HoldfastError('storage_failed', { reason: `the log ${path} was deleted or moved away` });
  throw new HoldfastError('offset_out_of_range', { got: from, allowed: 0 });
}

function readSegments(segments: readonly Segment[], from: number, to: number): Buffer {
  const data = Buffer.alloc(Math.max(0, to - from));
  let length = 0;
  for (const segment of segments) {
    const at = from + length - segment.from;
    if (length === data.length || at >= segment.bytes) continue;
    const wanted = Math.min(segment.bytes - at, data.length - length);
    const read = readFrom(segment.path, data.subarray(length, length + wanted), at);
    length += read;
    if (read < wanted) break;
  }
  return data.subarray(0, length);
}

function readFrom(path: string, data: Buffer, at: number): number {
  const fd = openSync(path, 'r');
  try {
    return readSync(fd, data, 0, data.length, at);
  } finally {
    closeSync(fd);
  }
}

const PIECE_BYTES = 1024 * 1024;
/** A look at a log of gigabytes must not read all of it: counting this much costs about 16 ms. */
const COUNTED_BYTES = 16 * PIECE_BYTES;

/** Line ends between two offsets, counted in bounded pieces; undefined where that is too much to read for a look. */
export async function countLines(path: string, from: number, to: number): Promise<number | undefined> {
  if (to - from > COUNTED_BYTES) return undefined;
  let lines = 0;
  for (let at = from; at < to; at += PIECE_BYTES) {
    const piece = readKept(path, at, Math.min(at + PIECE_BYTES, to));
    // Some of them have been dropped meanwhile.
    if (piece.from > at) return undefined;
    for (const byte of piece.data) if (byte === 0x0a) lines += 1;
    // Other sessions' readers are served between two pieces.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return lines;
}

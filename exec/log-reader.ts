// Reads a session's log by offset, a bounded piece at a time. Any number of readers slow nobody. A log has the bytes
// between two offsets but for the parts that are missing: this is the one place that tells which those are.
import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import { dirname } from 'node:path';
import { HoldfastError } from '../contracts/errors';
import { missingNote, type MissingPart, type Part } from '../contracts/missing-output';
import { endOf, segmentsOf, type Segment } from './log-segments';
import { lostParts, merged, missingOf } from './lost-parts';
import { asStorageFailure } from './storage-failure';

/** A file may be removed or become shorter between a look and the read: each time the log has changed once more. */
const ATTEMPTS = 10;

/** Offset behind the log's last byte; 0 where there is none yet. */
export const logEnd = (path: string): number => endOf(look(path));

/** Offset of the first byte that is still there: what was before has been dropped. */
export const logStart = (path: string): number => look(path)[0]?.from ?? 0;

/**
 * What is missing of a log, in the order of offsets: the dropped part first. `lost` is the end of a log that is shorter
 * than it was, where its files cannot tell that.
 */
export function missingParts(path: string, lost?: Part): MissingPart[] {
  const parts = missingOf(look(path), lostParts(path));
  if (!lost) return parts;
  const [dropped, truncated] = (['dropped', 'truncated'] as const).map((cause) =>
    parts.filter((part) => part.cause === cause),
  );
  return [
    ...(dropped ?? []),
    ...merged([...(truncated ?? []), lost]).map((part) => ({ ...part, cause: 'truncated' as const })),
  ];
}

/** What comes at an offset: bytes, or a part that is missing there. It goes on at `to`. */
export interface Piece extends Part {
  data: Buffer;
  /** Present: from here up to `to` nothing is there any more, and `data` is empty. */
  missing?: MissingPart;
}

/**
 * The bytes from `from` up to `to` at most: fewer where the log ends or a part of it is missing before. Where such a part
 * begins at `from`, or has begun, the piece is what is left of that, also behind `to`. Throws `storage_failed` where the
 * log is gone or ends before `from`, and `offset_out_of_range` where there never was one.
 */
export function nextPiece(path: string, from: number, to: number): Piece {
  const { data, missing } = pieceAt(path, from, to);
  return missing
    ? { data, from, to: missing.to, missing: { ...missing, from } }
    : { data, from, to: from + data.length };
}

/** What a piece is shown as: its bytes, or a note on a line of its own. */
export const shownPiece = ({ data, missing }: Piece): Buffer =>
  missing ? Buffer.from(`\r\n${missingNote(missing)}\r\n`) : data;

/**
 * As `nextPiece`, but throws where a part is missing at `from`: `offset_out_of_range` for what has been dropped, and
 * `log_lost` for what has been truncated.
 */
export function readLog(path: string, from: number, to: number): Buffer {
  const { data, missing } = pieceAt(path, from, to);
  if (!missing) return data;
  if (missing.cause === 'truncated')
    throw new HoldfastError('log_lost', { from: missing.from, to: missing.to });
  throw outOfRange(from, look(path));
}

/** All bytes between two offsets: fewer would be output that is missing without a word. Throws as `readLog`. */
export function readWhole(path: string, from: number, to: number): Buffer {
  const pieces: Buffer[] = [];
  for (let at = from; at < to;) {
    const data = readLog(path, at, to);
    if (data.length === 0) throw truncated(path, at, to);
    pieces.push(data);
    at += data.length;
  }
  return Buffer.concat(pieces);
}

/** Whether a read failed because what it asked for is not there any more. */
export function isMissing(err: unknown): boolean {
  if (!(err instanceof HoldfastError)) return false;
  if (err.code === 'log_lost') return true;
  const { got, from = 0 } = err.facts;
  return err.code === 'offset_out_of_range' && Number(got) >= 0 && Number(got) < Number(from);
}

/** A log is appended only: its holder says so of one that somebody has made shorter, and fills it up. */
export const truncated = (path: string, end: number, wanted: number): HoldfastError =>
  new HoldfastError('storage_failed', {
    reason: `the log ${path} was truncated: it ends at offset ${end}, before ${wanted}`,
  });

interface Found {
  data: Buffer;
  /** The whole part in which the offset lies. */
  missing?: MissingPart;
}

function pieceAt(path: string, from: number, to: number): Found {
  for (let attempt = 1; ; attempt++) {
    const segments = look(path);
    const end = endOf(segments);
    if (segments.length === 0) return nothingOf(path, from, to);
    if (from < 0) throw outOfRange(from, segments);
    if (from > end) throw truncated(path, end, from);
    try {
      const data = readSegments(segments, from, Math.min(to, end));
      const part = missingOf(segments, lostParts(path)).find((missing) => missing.to > from);
      const kept = data.subarray(0, Math.max(0, (part?.from ?? Infinity) - from));
      if (part && part.from <= from && from < to) return { data: kept, missing: part };
      // Else it has become shorter since it was looked at.
      if (kept.length > 0 || from >= Math.min(to, end) || attempt === ATTEMPTS) return { data: kept };
    } catch (err) {
      const isRemoved = (err as NodeJS.ErrnoException).code === 'ENOENT';
      if (!isRemoved || attempt === ATTEMPTS) throw asStorageFailure(err);
    }
  }
}

function look(path: string): Segment[] {
  try {
    return segmentsOf(path);
  } catch (err) {
    throw asStorageFailure(err);
  }
}

const outOfRange = (got: number, segments: readonly Segment[]): HoldfastError =>
  new HoldfastError('offset_out_of_range', { got, from: segments[0]?.from ?? 0, allowed: endOf(segments) });

function nothingOf(path: string, from: number, to: number): Found {
  if (from === 0 && to <= 0) return { data: Buffer.alloc(0) };
  // A session that is there has a log: a holder that lives writes a deleted one back, one that is dead cannot.
  if (existsSync(dirname(path)))
    throw new HoldfastError('storage_failed', { reason: `the log ${path} was deleted or moved away` });
  throw new HoldfastError('offset_out_of_range', { got: from, allowed: 0 });
}

/** Up to where the segments have a gap. */
function readSegments(segments: readonly Segment[], from: number, to: number): Buffer {
  const data = Buffer.alloc(Math.max(0, to - from));
  let length = 0;
  for (const segment of segments) {
    const at = from + length - segment.from;
    if (length === data.length || at < 0) break;
    if (at >= segment.bytes) continue;
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
  for (let at = from; at < to;) {
    const piece = nextPiece(path, at, Math.min(at + PIECE_BYTES, to));
    // Some of them have been removed meanwhile.
    if (piece.missing || piece.to === at) return undefined;
    for (const byte of piece.data) if (byte === 0x0a) lines += 1;
    at = piece.to;
    // Other sessions' readers are served between two pieces.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return lines;
}

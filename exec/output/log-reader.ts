// Reads a session's log by offset, in bounded pieces. Readers slow nothing down, however many there are. A log has all
// bytes between two offsets except for missing parts: this is the one place that determines which parts are missing.
import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import { dirname } from 'node:path';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { missingNote, type MissingPart, type Part } from '../../contracts/sessions/missing-output';
import { endOf, segmentsOf, type Segment } from './log-segments';
import { lostParts, merged, missingOf } from './lost-parts';
import { asStorageFailure } from '../../system/storage-failure';

/**
 * A file may be removed or truncated between a look and the read: each attempt means that the log has changed again.
 */
const ATTEMPTS = 10;

/** Offset after the log's last byte; 0 if there is no log yet. */
export const logEnd = (path: string): number => endOf(look(path));

/** Offset of the first byte that still exists: earlier bytes have been dropped. */
export const logStart = (path: string): number => look(path)[0]?.from ?? 0;

/**
 * The missing parts of a log, ordered by offset: the dropped part first. `lost` is the end of a log that is shorter
 * than it was, for cases in which its files cannot show that.
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

/** What is at an offset: bytes, or a missing part. The next piece begins at `to`. */
export interface Piece extends Part {
  data: Buffer;
  /** If present, everything from here up to `to` is missing, and `data` is empty. */
  missing?: MissingPart;
}

/**
 * The bytes from `from` up to `to` at most: fewer if the log ends, or a missing part begins, before `to`. If a missing
 * part covers `from`, the piece is the rest of that part, even beyond `to`. Throws `storage_failed` if the log is gone
 * or ends before `from`, and `offset_out_of_range` if there never was one.
 */
export function nextPiece(path: string, from: number, to: number): Piece {
  const { data, missing } = pieceAt(path, from, to);
  return missing
    ? { data, from, to: missing.to, missing: { ...missing, from } }
    : { data, from, to: from + data.length };
}

/** How a piece is shown: its bytes, or a note on a separate line. */
export const shownPiece = ({ data, missing }: Piece): Buffer =>
  missing ? Buffer.from(`\r\n${missingNote(missing)}\r\n`) : data;

/**
 * Like `nextPiece`, but throws if `from` lies in a missing part: `offset_out_of_range` for dropped bytes, and
 * `log_lost` for truncated ones.
 */
export function readLog(path: string, from: number, to: number): Buffer {
  const { data, missing } = pieceAt(path, from, to);
  if (!missing) return data;
  if (missing.cause === 'truncated')
    throw new HoldfastError('log_lost', { from: missing.from, to: missing.to });
  throw outOfRange(from, look(path));
}

/** All bytes between two offsets; a shorter result would silently lack output. Throws like `readLog`. */
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

/** Whether a read failed because the requested bytes no longer exist. */
export function isMissing(err: unknown): boolean {
  if (!(err instanceof HoldfastError)) return false;
  if (err.code === 'log_lost') return true;
  const { got, from = 0 } = err.facts;
  return err.code === 'offset_out_of_range' && Number(got) >= 0 && Number(got) < Number(from);
}

/** Logs only grow. If somebody truncates one, its holder reports that and restores the length. */
export const truncated = (path: string, end: number, wanted: number): HoldfastError =>
  new HoldfastError('storage_failed', {
    reason: `the log ${path} was truncated: it ends at offset ${end}, before ${wanted}`,
  });

interface Found {
  data: Buffer;
  /** The whole missing part that contains the offset. */
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
      // Otherwise it has become shorter since the look.
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
  // Every existing session has a log: a living holder writes a deleted one back, a dead one cannot.
  if (existsSync(dirname(path)))
    throw new HoldfastError('storage_failed', { reason: `the log ${path} was deleted or moved away` });
  throw new HoldfastError('offset_out_of_range', { got: from, allowed: 0 });
}

/** Reads up to the first gap between segments. */
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
/** Looking at a log of gigabytes must not read all of it: counting this much takes about 16 ms. */
const COUNTED_BYTES = 16 * PIECE_BYTES;

/** Line ends between two offsets, counted in bounded pieces; undefined if that is too much to read. */
export async function countLines(path: string, from: number, to: number): Promise<number | undefined> {
  if (to - from > COUNTED_BYTES) return undefined;
  let lines = 0;
  for (let at = from; at < to;) {
    const piece = nextPiece(path, at, Math.min(at + PIECE_BYTES, to));
    // Some bytes have been removed meanwhile.
    if (piece.missing || piece.to === at) return undefined;
    for (const byte of piece.data) if (byte === 0x0a) lines += 1;
    at = piece.to;
    // Serve readers of other sessions between two pieces.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return lines;
}

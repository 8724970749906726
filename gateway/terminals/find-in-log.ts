// Looks for a text in a session's log, a bounded part of it at a time.
import type { Found } from '../../contracts/gateway/api';
import type { SessionPlace } from './session-place';

const PIECE_BYTES = 1024 * 1024;
/** What one request looks through: a few tens of milliseconds. */
const STEP_BYTES = 16 * PIECE_BYTES;

interface Search {
  text: string;
  /** Forwards: where the first match may begin. Backwards: where the last one must end. */
  from: number;
  back: boolean;
}

/** Compares bytes: what a program has put between two letters, a colour for example, is part of the log. */
export async function findInLog(place: SessionPlace, { text, from, back }: Search): Promise<Found> {
  const needle = Buffer.from(text);
  const end = await place.end();
  return back ? findBack(place, needle, Math.min(from, end)) : findAhead(place, needle, { from, end });
}

async function findAhead(
  place: SessionPlace,
  needle: Buffer,
  { from, end }: { from: number; end: number },
): Promise<Found> {
  const stop = Math.min(end, from + STEP_BYTES);
  // What a match may have begun with in the piece before.
  let tail = Buffer.alloc(0);
  let at = Math.min(from, end);
  while (at < stop) {
    const piece = await place.read(at, Math.min(at + PIECE_BYTES, stop));
    if (piece.to <= at) return { at: null, next: null };
    const data = Buffer.concat([tail, piece.data]);
    const index = data.indexOf(needle);
    if (index >= 0) return { at: at - tail.length + index, next: null };
    tail = piece.missing ? Buffer.alloc(0) : data.subarray(Math.max(0, data.length - needle.length + 1));
    at = piece.to;
    await othersFirst();
  }
  return { at: null, next: at < end ? at - tail.length : null };
}

async function findBack(place: SessionPlace, needle: Buffer, from: number): Promise<Found> {
  const stop = Math.max(0, from - STEP_BYTES);
  let to = from;
  while (to > stop) {
    const begin = Math.max(stop, to - PIECE_BYTES);
    const found = await lastIn(place, needle, { from: begin, to: Math.min(from, to + needle.length - 1) });
    if (found !== null) return { at: found, next: null };
    to = begin;
    await othersFirst();
  }
  return { at: null, next: to > 0 ? Math.min(from, to + needle.length - 1) : null };
}

async function lastIn(
  place: SessionPlace,
  needle: Buffer,
  { from, to }: { from: number; to: number },
): Promise<number | null> {
  let found: number | null = null;
  let run: { from: number; data: Buffer } = { from, data: Buffer.alloc(0) };
  for (let at = from; at < to;) {
    const piece = await place.read(at, to);
    if (piece.to <= at) break;
    if (piece.missing) run = { from: piece.to, data: Buffer.alloc(0) };
    else {
      run.data = Buffer.concat([run.data, piece.data]);
      const index = run.data.lastIndexOf(needle);
      if (index >= 0) found = run.from + index;
    }
    at = piece.to;
  }
  return found;
}

/** Reading a file keeps the process to itself. */
const othersFirst = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

// The files of a session's log: `log`, and `log.OFFSET` for each later one, named by the offset of its first byte. At
// the size limit the oldest ones are removed, and offsets stay valid.
import { existsSync, readdirSync, statSync, unlinkSync } from 'node:fs';
import { basename, dirname } from 'node:path';

export interface Segment {
  path: string;
  /** Offset of its first byte in the session's whole output. */
  from: number;
  bytes: number;
  /** Time of the last write, in milliseconds. */
  writtenAt: number;
}

const MAX_SEGMENT_BYTES = 8 * 1024 * 1024;
const SEGMENTS = 8;
/** Attempts to look at a log whose oldest file is being removed meanwhile. */
const ATTEMPTS = 10;

/** Maximum size of each file of a log limited to `maxBytes`: files are dropped as a whole. */
export const segmentBytesOf = (maxBytes: number): number =>
  Math.min(MAX_SEGMENT_BYTES, Math.ceil(maxBytes / SEGMENTS));

export const segmentPath = (log: string, from: number): string => (from === 0 ? log : `${log}.${from}`);

/**
 * Oldest first; empty if there is no log. A file that ends before the next one begins has been truncated. A file
 * missing between two others was removed from outside: normally the oldest goes first.
 */
export function segmentsOf(log: string): Segment[] {
  for (let attempt = 1; ; attempt++) {
    const found = find(log);
    const isWhole = found.every(
      ({ from, bytes }, n) => from + bytes === (found[n + 1]?.from ?? from + bytes),
    );
    // If the oldest file has gone meanwhile, another may have gone before it was examined.
    if (isWhole || attempt === ATTEMPTS || existsSync(found[0]?.path ?? log)) return found;
  }
}

function find(log: string): Segment[] {
  const [folder, name] = [dirname(log), basename(log)];
  const offsets = namesIn(folder)
    .flatMap((entry) => offsetIn(entry, name) ?? [])
    .sort((a, b) => a - b);
  return offsets.flatMap((from, n) => {
    const path = segmentPath(log, from);
    // It may have been removed meanwhile.
    const file = statSync(path, { throwIfNoEntry: false });
    if (!file) return [];
    // Bytes appended from outside overlap the next file's offsets.
    const bytes = Math.min(file.size, (offsets[n + 1] ?? Infinity) - from);
    return [{ path, from, bytes, writtenAt: file.mtimeMs }];
  });
}

function offsetIn(entry: string, name: string): number | undefined {
  if (entry === name) return 0;
  if (!entry.startsWith(`${name}.`)) return undefined;
  const offset = entry.slice(name.length + 1);
  return /^[1-9]\d*$/.test(offset) ? Number(offset) : undefined;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw err;
  }
}

/** Removes it if it exists. */
export function removeSegment({ path }: Pick<Segment, 'path'>): void {
  try {
    unlinkSync(path);
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code !== 'ENOENT') throw err;
  }
}

/** The offset after the last byte; 0 if there is no log. */
export function endOf(segments: readonly Segment[]): number {
  const last = segments.at(-1);
  return last ? last.from + last.bytes : 0;
}

// The files that a session's log lies in: `log`, and `log.OFFSET` for each that was begun later, named by the offset of
// its first byte. The oldest ones are removed where a limit is reached, so that offsets stay true whatever is removed.
import { existsSync, readdirSync, statSync, unlinkSync } from 'node:fs';
import { basename, dirname } from 'node:path';

export interface Segment {
  path: string;
  /** Offset of its first byte in all that was ever printed. */
  from: number;
  bytes: number;
  /** When it was last written, in milliseconds. */
  writtenAt: number;
}

const MAX_SEGMENT_BYTES = 8 * 1024 * 1024;
const SEGMENTS = 8;
/** So often is a log looked at whose oldest file is removed meanwhile. */
const ATTEMPTS = 10;

/** How large each of them grows where a log may have `maxBytes`: it is dropped as a whole. */
export const segmentBytesOf = (maxBytes: number): number =>
  Math.min(MAX_SEGMENT_BYTES, Math.ceil(maxBytes / SEGMENTS));

export const segmentPath = (log: string, from: number): string => (from === 0 ? log : `${log}.${from}`);

/**
 * The oldest first; none where there is no log. A file that is shorter than up to where the next one begins has been
 * truncated, and one that is not there between two others was removed from outside: the oldest goes first otherwise.
 */
export function segmentsOf(log: string): Segment[] {
  for (let attempt = 1; ; attempt++) {
    const found = find(log);
    const isWhole = found.every(
      ({ from, bytes }, n) => from + bytes === (found[n + 1]?.from ?? from + bytes),
    );
    // Where the oldest one has gone meanwhile, another may have gone before it was looked at.
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
    // It may be removed meanwhile.
    const file = statSync(path, { throwIfNoEntry: false });
    if (!file) return [];
    // What is appended from outside has another one's offset.
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

/** Removes it where it is there. */
export function removeSegment({ path }: Pick<Segment, 'path'>): void {
  try {
    unlinkSync(path);
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code !== 'ENOENT') throw err;
  }
}

/** The offset behind the last byte; 0 where there is no log. */
export function endOf(segments: readonly Segment[]): number {
  const last = segments.at(-1);
  return last ? last.from + last.bytes : 0;
}

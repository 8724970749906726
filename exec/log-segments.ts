// The files that a session's log lies in: `log`, and `log.OFFSET` for each that was begun later, named by the offset of
// its first byte. The oldest ones are removed where a limit is reached, so that offsets stay true whatever is removed.
import { readdirSync, statSync, unlinkSync } from 'node:fs';
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

/** How large each of them grows where a log may have `maxBytes`: it is dropped as a whole. */
export const segmentBytesOf = (maxBytes: number): number =>
  Math.min(MAX_SEGMENT_BYTES, Math.ceil(maxBytes / SEGMENTS));

export const segmentPath = (log: string, from: number): string => (from === 0 ? log : `${log}.${from}`);

/**
 * Those that follow one another without a gap up to the end of the log, the oldest first; none where there is no log.
 * What lies before a gap cannot be told apart from what was removed, and counts as that.
 */
export function segmentsOf(log: string): Segment[] {
  const found = allSegments(log);
  const first = found.findLastIndex((segment, index) => {
    const before = found[index - 1];
    return before === undefined || before.from + before.bytes !== segment.from;
  });
  return found.slice(Math.max(0, first));
}

/** Also those before a gap. */
export function allSegments(log: string): Segment[] {
  const [folder, name] = [dirname(log), basename(log)];
  return namesIn(folder)
    .flatMap((entry) => offsetIn(entry, name) ?? [])
    .sort((a, b) => a - b)
    .flatMap((from) => {
      const path = segmentPath(log, from);
      // It may be removed meanwhile.
      const found = statSync(path, { throwIfNoEntry: false });
      return found ? [{ path, from, bytes: found.size, writtenAt: found.mtimeMs }] : [];
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

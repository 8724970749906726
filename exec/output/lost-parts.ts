// The missing parts of a session's log. The files themselves show dropped parts and truncation of older files;
// truncation of the file being written is recorded, so that the zeros in its place are not taken for output.
import { statSync } from 'node:fs';
import type { MissingPart, Part } from '../../contracts/sessions/missing-output';
import { readJson, writeJson } from '../../system/json-file';
import { endOf, type Segment } from './log-segments';

/** Repeated truncation does not grow the list further: the last part is extended instead. */
const MAX_PARTS = 64;

const pathOf = (log: string): string => `${log}.lost`;

/** False if no loss was recorded. Most logs have no such file, and are read often. */
export const mayHaveLostParts = (log: string): boolean =>
  statSync(pathOf(log), { throwIfNoEntry: false }) !== undefined;

/** The recorded parts, ordered by offset. Throws `storage_failed` if they cannot be read. */
export function lostParts(log: string): Part[] {
  return mayHaveLostParts(log) ? (readJson<Part[]>(pathOf(log)) ?? []) : [];
}

/**
 * Records that the log lost everything from `from` up to its end `to`. Anything before `start` is dropped, and needs no
 * record. Throws `storage_failed`.
 */
export function recordLoss(log: string, { from, to }: Part, start = 0): void {
  const before = partsWithin(lostParts(log), { from: start, to: from });
  const last = before.at(-1);
  const touches = last?.to === from || before.length === MAX_PARTS;
  const parts =
    touches && last ? [...before.slice(0, -1), { from: last.from, to }] : [...before, { from, to }];
  writeJson(pathOf(log), parts);
}

/** The parts, clipped to a range. */
export function partsWithin<P extends Part>(parts: readonly P[], { from, to }: Part): P[] {
  return parts
    .map((part) => ({ ...part, from: Math.max(part.from, from), to: Math.min(part.to, to) }))
    .filter((part) => part.from < part.to);
}

/**
 * All missing parts of a log with these segments, ordered by offset. Read `lost` after the data that it is compared
 * with: a loss is recorded before zeros take its place.
 */
export function missingOf(segments: readonly Segment[], lost: readonly Part[]): MissingPart[] {
  const [first] = segments;
  const start = first?.from ?? 0;
  const gaps = segments.flatMap(({ from, bytes }, n) => ({
    from: from + bytes,
    to: segments[n + 1]?.from ?? 0,
  }));
  const recorded = partsWithin(lost, { from: start, to: endOf(segments) });
  const truncated = merged([...gaps.filter((gap) => gap.from < gap.to), ...recorded]);
  return [
    ...(start > 0 ? [{ from: 0, to: start, cause: 'dropped' as const }] : []),
    ...truncated.map((part) => ({ ...part, cause: 'truncated' as const })),
  ];
}

/** Ordered, with touching parts merged. */
export function merged(parts: readonly Part[]): Part[] {
  const found: Part[] = [];
  for (const { from, to } of [...parts].sort((a, b) => a.from - b.from)) {
    const last = found.at(-1);
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else found.push({ from, to });
  }
  return found;
}

// The log of a session within its limit: kept bytes stay at their offsets, and dropped ones are reported.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HoldfastError } from '../../../../contracts/errors/holdfast-error';
import { OutputLog } from '../../../../exec/holder/output-log';
import { logEnd, logStart, nextPiece, readLog, type Piece } from '../../../../exec/output/log-reader';
import { segmentPath, segmentsOf } from '../../../../exec/output/log-segments';
import { boundedView, keptTexts, page } from '../../../../exec/output/view';
import { until } from '../../../helpers/until';

const MAX_BYTES = 80_000;
/** An eighth of the limit. */
const SEGMENT_BYTES = 10_000;

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-log-'));
  path = join(folder, 'log');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const onDisk = (): number =>
  readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);

/** Numbered lines, in chunks that end anywhere; returns all that was printed. */
function flood(log: OutputLog, lines: number): string {
  const text = Array.from({ length: lines }, (_, n) => `line ${n}\n`).join('');
  for (let at = 0, size = 1; at < text.length; at += size, size = (size * 31 + 7) % 7_001) {
    log.append(Buffer.from(text.slice(at, at + size)), () => undefined);
    if (onDisk() > MAX_BYTES) throw new Error(`${onDisk()} bytes on the disk, allowed ${MAX_BYTES}`);
  }
  return text;
}

test('a log takes no more than its limit, and what it keeps is the end of everything, at the original offsets', () => {
  const log = new OutputLog(path, MAX_BYTES);
  const text = flood(log, 100_000);
  expect(log.end).toBe(text.length);
  expect(logEnd(path)).toBe(text.length);
  const start = logStart(path);
  expect(text.length - start).toBeGreaterThanOrEqual(MAX_BYTES - 2 * SEGMENT_BYTES);
  expect(readLog(path, start, text.length).toString()).toBe(text.slice(start));
  // Across the edges of its files.
  for (let at = start; at < text.length; at += 3_333)
    expect(readLog(path, at, at + 15_000).toString()).toBe(text.slice(at, at + 15_000));
});

test('everything below the limit is kept', () => {
  const text = flood(new OutputLog(path, MAX_BYTES), 6_000);
  expect(text.length).toBeGreaterThan(4 * SEGMENT_BYTES);
  expect(readLog(path, 0, text.length).toString()).toBe(text);
});

test('a reopened log continues where it ended, and within its limit', () => {
  const before = flood(new OutputLog(path, MAX_BYTES), 20_000);
  const log = new OutputLog(path, MAX_BYTES);
  expect(log.end).toBe(before.length);
  const all = before + flood(log, 20_000);
  const start = logStart(path);
  expect(start).toBeGreaterThan(before.length);
  expect(readLog(path, start, all.length).toString()).toBe(all.slice(start));
});

test('an offset that is no longer kept is refused with those that are, and never read as other bytes', () => {
  const text = flood(new OutputLog(path, MAX_BYTES), 100_000);
  const start = logStart(path);
  for (const from of [0, start - 1])
    expect(() => readLog(path, from, from + 10)).toThrow(
      new HoldfastError('offset_out_of_range', { got: from, from: start, allowed: text.length }),
    );
  const dropped = { from: 7, to: start, data: Buffer.alloc(0) };
  expect(nextPiece(path, 7, 107)).toEqual({ ...dropped, missing: { from: 7, to: start, cause: 'dropped' } });
});

test('views say how many bytes are no longer kept, and begin at the first that is', async () => {
  const text = flood(new OutputLog(path, MAX_BYTES), 100_000);
  const start = logStart(path);
  const note = `[${start - 100} bytes dropped by the limits of the log, which now begins at offset ${start}]\n`;
  const view = await boundedView(path, 100, text.length);
  expect(view).toMatchObject({ from: start, to: text.length, droppedBytes: start - 100 });
  expect(view.output.startsWith(note + text.slice(start, start + 1_000))).toBe(true);
  expect(view.output.endsWith('line 99999\n')).toBe(true);
  const first = await page(path, 100, 1_100);
  expect(first).toMatchObject({
    output: note + text.slice(start, start + 1_000),
    from: start,
    to: start + 1_000,
    droppedBytes: start - 100,
  });
  expect(await page(path, first.to, first.to + 500)).toEqual({
    output: text.slice(first.to, first.to + 500),
    from: first.to,
    to: first.to + 500,
    omittedBytes: 0,
  });
});

test('for a command of which nothing is kept, only that fact is shown', async () => {
  flood(new OutputLog(path, MAX_BYTES), 100_000);
  const gone = `[900 bytes dropped by the limits of the log, which now begins at offset ${logStart(path)}]\n`;
  expect(await boundedView(path, 100, 1_000)).toEqual({
    output: gone,
    from: 1_000,
    to: 1_000,
    omittedBytes: 0,
    droppedBytes: 900,
  });
});

test('a log that is larger than its limit is kept until as much has come after it', () => {
  writeFileSync(path, 'x'.repeat(3 * MAX_BYTES));
  const log = new OutputLog(path, MAX_BYTES);
  const append = (bytes: number): void => log.append(Buffer.alloc(bytes, 'y'), () => undefined);
  append(SEGMENT_BYTES);
  expect([logStart(path), logEnd(path)]).toEqual([0, 3 * MAX_BYTES + SEGMENT_BYTES]);
  append(MAX_BYTES);
  expect(logStart(path)).toBeGreaterThanOrEqual(3 * MAX_BYTES);
  expect(onDisk()).toBeLessThanOrEqual(MAX_BYTES);
  expect(onDisk()).toBeGreaterThanOrEqual(MAX_BYTES - 2 * SEGMENT_BYTES);
});

/** All of a log as its readers get it, piece by piece from 0 on: each byte once, or reported as missing once. */
function pieces(log: OutputLog): Piece[] {
  const all: Piece[] = [];
  for (let at = 0; at < log.end;) {
    const piece = nextPiece(path, at, Math.min(at + 4_000, log.end));
    expect(piece.from).toBe(at);
    expect(piece.to).toBeGreaterThan(at);
    all.push(piece);
    at = piece.to;
  }
  return all;
}
const missing = (log: OutputLog): unknown[] => pieces(log).flatMap((piece) => piece.missing ?? []);

test('what someone removes or truncates of its older files is reported as lost, and everything around it is kept', () => {
  const text = flood(new OutputLog(path, MAX_BYTES), 6_000);
  const [, second, third, , fifth] = segmentsOf(path);
  rmSync(third?.path ?? '');
  truncateSync(fifth?.path ?? '', 300);
  truncateSync(second?.path ?? '', 9_000);
  const log = new OutputLog(path, MAX_BYTES);
  expect(log.end).toBe(text.length);
  expect(missing(log)).toEqual([
    { from: 19_000, to: 30_000, cause: 'truncated' },
    { from: 40_300, to: 50_000, cause: 'truncated' },
  ]);
  for (const { missing, data, from, to } of pieces(log))
    if (!missing) expect(data.toString()).toBe(text.slice(from, to));
});

test('a log whose head was dropped and that is truncated later on reports each part once, with its cause', async () => {
  const log = new OutputLog(path, MAX_BYTES);
  let text = flood(log, 20_000);
  const begun = logEnd(path);
  const [, older] = segmentsOf(path);
  truncateSync(older?.path ?? '', 5_000);
  const active = segmentsOf(path).at(-1);
  truncateSync(active?.path ?? '', 10);
  text += flood(log, 700);
  expect(log.fault).toBeNull();

  const start = logStart(path);
  const [one, two] = [
    { from: (older?.from ?? 0) + 5_000, to: (older?.from ?? 0) + SEGMENT_BYTES },
    { from: (active?.from ?? 0) + 10, to: begun },
  ];
  const expected = [
    { from: 0, to: start, cause: 'dropped' },
    { ...one, cause: 'truncated' },
    { ...two, cause: 'truncated' },
  ];
  expect(start).toBeGreaterThan(0);
  expect(missing(log)).toEqual(expected);
  for (const { missing, data, from, to } of pieces(log))
    if (!missing) expect(data.toString()).toBe(text.slice(from, to));
  // Its next holder, and what reads it meanwhile, know the same.
  expect(missing(new OutputLog(path, MAX_BYTES))).toEqual(expected);

  const lost = ({ from, to }: { from: number; to: number }): string =>
    `[${to - from} bytes are lost: the log was truncated or deleted]\n`;
  const view = await page(path, 0, text.length);
  const line = (kept: string): string => (kept.endsWith('\n') ? kept : `${kept}\n`);
  expect(view).toEqual({
    output:
      `[${start} bytes dropped by the limits of the log, which now begins at offset ${start}]\n` +
      line(text.slice(start, one.from)) +
      lost(one) +
      line(text.slice(one.to, two.from)) +
      lost(two) +
      text.slice(two.to),
    from: start,
    to: text.length,
    omittedBytes: one.to - one.from + two.to - two.from,
    droppedBytes: start,
  });
  const short = await boundedView(path, 0, text.length);
  expect(short).toMatchObject({ from: start, to: text.length, droppedBytes: start });
  expect(short.output.match(/bytes dropped by/g)).toHaveLength(1);
  expect(short.output.match(/bytes are lost/g)).toHaveLength(1);
  expect(await keptTexts(path, { from: 0, to: text.length })).toEqual([
    '',
    text.slice(start, one.from),
    text.slice(one.to, two.from),
    text.slice(two.to),
  ]);

  // Bytes finally dropped no longer count as lost.
  flood(log, 20_000);
  expect(missing(log)).toEqual([{ from: 0, to: logStart(path), cause: 'dropped' }]);
});

test('a file that is deleted just before it is full is written back before the next one begins', () => {
  const log = new OutputLog(path, MAX_BYTES);
  log.append(Buffer.from('a'.repeat(SEGMENT_BYTES - 1)), () => undefined);
  rmSync(path);
  log.append(Buffer.from('bcd'), () => undefined);
  expect(readLog(path, 0, SEGMENT_BYTES + 2).toString()).toBe(`${'a'.repeat(SEGMENT_BYTES - 1)}bcd`);
});

test('a part that cannot be begun stalls the terminal, says why, and loses nothing', async () => {
  const log = new OutputLog(path, MAX_BYTES);
  const inTheWay = segmentPath(path, SEGMENT_BYTES);
  // It cannot be opened as a file, not even by root.
  mkdirSync(inTheWay);
  const text = 'z'.repeat(SEGMENT_BYTES + 500);
  let hasSpace = false;
  log.append(Buffer.from(text), () => (hasSpace = true));
  expect([log.isStalled, log.fault]).toEqual([true, expect.stringContaining('EISDIR')]);
  expect(log.accepted).toBe(text.length);
  rmSync(inTheWay, { recursive: true });
  await until(() => hasSpace);
  expect(readLog(path, 0, text.length).toString()).toBe(text);
});

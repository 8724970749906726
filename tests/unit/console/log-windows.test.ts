// Windows of a log: where they meet, and what is drawn of them.
import {
  cutAt,
  isOutOfDate,
  MAX_WINDOWS,
  reachOf,
  runsOf,
  WINDOW_BYTES,
  windowAt,
  windowCount,
  windowOf,
  withWindow,
  type Chunk,
  type LogWindow,
} from '../../../console/terminal/log-windows';

const wholeOf = (data: Buffer): Chunk[] => [{ from: 0, to: data.length, data }];
const textOf = (chunks: Chunk[], from: number, to: number): string =>
  runsOf(chunks, { from, to }, null)
    .map(({ text }) => text)
    .join('');

/** The window as it is read: no byte beyond its reach. */
function readWindow(log: Buffer, index: number, end = log.length): LogWindow {
  const { from, to } = reachOf(index, end);
  return windowOf(index, [{ from, to, data: log.subarray(from, to) }], end);
}

/** The same for each seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const PIECES = [
  ...['plain text ', 'größer ', '日本語', '👩‍👩‍👧', '\x1b[1;31mred\x1b[0m', '\x1b]0;a title\x07'],
  ...['\x1b]8;;https://e.example/a?b=c\x1b\\link\x1b]8;;\x1b\\', '\x1b(B', '\r', '\t', '\x07'],
];

function someLog(seed: number, lineEnds: number): Buffer {
  const random = randomOf(seed);
  const pieces: string[] = [];
  for (let bytes = 0; bytes < 4.3 * WINDOW_BYTES;) {
    const piece = random() < lineEnds ? '\r\n' : (PIECES[Math.floor(random() * PIECES.length)] ?? '');
    pieces.push(piece);
    bytes += Buffer.byteLength(piece);
  }
  return Buffer.from(pieces.join(''));
}

test.each([
  ['with short lines', 1, 0.1],
  ['with few line ends', 2, 0.002],
  ['without any line end', 3, 0],
  ['without any line end, otherwise', 4, 0],
])('windows of a log %s meet: nothing is drawn twice, torn or left out', (_, seed, lineEnds) => {
  const log = someLog(seed, lineEnds);
  const windows = Array.from({ length: windowCount(log.length) }, (__, index) => readWindow(log, index));
  expect(windows.map(({ from }) => from)).toEqual([0, ...windows.slice(0, -1).map(({ to }) => to)]);
  expect(windows.at(-1)?.to).toBe(log.length);
  const drawn = windows.map(({ chunks, from, to }) => textOf(chunks, from, to)).join('');
  expect(drawn.replaceAll('\n', '')).toBe(textOf(wholeOf(log), 0, log.length).replaceAll('\n', ''));
  expect(drawn).not.toMatch(/\uFFFD|\[1;31m|a title|https:/);
});

const EDGE = WINDOW_BYTES;
/** A log in which the edge is so many bytes into the middle part. */
const around = (middle: string, into: number): Buffer =>
  Buffer.concat([Buffer.alloc(EDGE - into, 'a'), Buffer.from(middle), Buffer.alloc(EDGE, 'b')]);

test.each([
  ['before a character', '€', 0, 0],
  ['within a character', '€', 1, 2],
  ['before its last byte', '€', 2, 1],
  ['after an escape', '\x1b[31m', 1, 4],
  ['within a colour', '\x1b[31m', 3, 2],
  ['within a title', '\x1b]0;title\x07', 5, 5],
  ['before a string’s end', '\x1b]0;title\x1b\\', 9, 2],
  ['after a sequence', '\x1b[31m', 5, 0],
  ['with a line end after it', 'abc\ndef', 1, 3],
  ['after a line end', 'abc\ndef', 4, 0],
])('an edge %s is moved to where text begins', (_, middle, into, moved) => {
  const log = around(middle, into);
  expect(cutAt(EDGE, wholeOf(log), log.length) - EDGE).toBe(moved);
});

test('a sequence that never ends hides no more than its line', () => {
  const log = Buffer.from('a\x1b]0;never ended\nnext line\x1b[31');
  expect(textOf(wholeOf(log), 0, log.length)).toBe('a\nnext line');
});

test('what cannot be seen, or turns text around, is written out', () => {
  const log = Buffer.from('bell\x07 del\x7f \u202Eturned\u200B zero\x00');
  expect(textOf(wholeOf(log), 0, log.length)).toBe('bell␇ del‹U+007F› ‹U+202E›turned‹U+200B› zero␀');
});

test('line ends are those of terminals, and a line that overwrites itself is shown each time', () => {
  const log = Buffer.from('one\r\ntwo\r\r\n10%\r20%\rdone\n');
  expect(textOf(wholeOf(log), 0, log.length)).toBe('one\ntwo\n10%\n20%\ndone\n');
});

test('a match is set apart at its bytes, among characters of several and colours', () => {
  const log = Buffer.from('größe \x1b[1mthe needle\x1b[0m ende');
  const from = log.indexOf('the needle');
  const runs = runsOf(wholeOf(log), { from: 0, to: log.length }, { from, to: from + 10 });
  expect(runs).toEqual([
    { kind: 'text', text: 'größe ' },
    { kind: 'match', text: 'the needle' },
    { kind: 'text', text: ' ende' },
  ]);
});

test('a missing part is said, clipped to the window', () => {
  const chunks: Chunk[] = [
    { from: 0, to: 100, data: null, cause: 'dropped' },
    { from: 100, to: 104, data: Buffer.from('text') },
  ];
  expect(runsOf(chunks, { from: 40, to: 104 }, null)).toEqual([
    { kind: 'missing', text: 'Bytes 40 to 100 no longer exist: dropped.' },
    { kind: 'text', text: 'text' },
  ]);
  expect(cutAt(50, chunks, 104)).toBe(50);
});

test('few windows are kept: those next to the last one that came', () => {
  const log = Buffer.alloc(20 * WINDOW_BYTES, 'x\n');
  const read = (index: number): LogWindow => readWindow(log, index);
  const indexes = (windows: LogWindow[]): number[] => windows.map(({ index }) => index);
  let windows: LogWindow[] = [];
  for (let index = 0; index < 10; index++) windows = withWindow(windows, read(index));
  expect(indexes(windows)).toEqual([5, 6, 7, 8, 9]);
  expect(windows).toHaveLength(MAX_WINDOWS);
  windows = withWindow(withWindow(windows, read(4)), read(3));
  expect(indexes(windows)).toEqual([3, 4, 5, 6, 7]);
  expect(indexes(withWindow(windows, read(7)))).toEqual([3, 4, 5, 6, 7]);
  expect(indexes(withWindow(windows, read(15)))).toEqual([15]);
});

test('a window that the log’s end cut short is read again when the log has grown', () => {
  const log = Buffer.alloc(2 * WINDOW_BYTES, 'x\n');
  const first = readWindow(log, 0, WINDOW_BYTES + 10);
  expect(isOutOfDate(first, WINDOW_BYTES + 10)).toBe(false);
  expect(isOutOfDate(first, WINDOW_BYTES + 20)).toBe(true);
  expect(isOutOfDate(readWindow(log, 0), 3 * WINDOW_BYTES)).toBe(false);
});

test.each([
  [0, 0, 0],
  [1, 0, 0],
  [WINDOW_BYTES, WINDOW_BYTES, 0],
  [WINDOW_BYTES, WINDOW_BYTES + 1, 1],
  [10 * WINDOW_BYTES, WINDOW_BYTES, 0],
])('offset %i of a log that ends at %i is in window %i', (offset, end, index) => {
  expect(windowAt(offset, end)).toBe(index);
});

// The reader of attached people gives what the log gives, whatever has happened to its files since the last read.
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { segmentPath } from '../../../exec/output/log-segments';
import { TailReader } from '../../../exec/output/tail-reader';
import { nextPiece } from '../../../exec/output/log-reader';
import { recordLoss } from '../../../exec/output/lost-parts';

let folder: string;
let log: string;
let tail: TailReader;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-tail-'));
  log = join(folder, 'log');
  writeFileSync(log, 'one\n');
  tail = new TailReader(log);
  // From here on it knows the last file.
  expect(tail.next(0, 4).data.toString()).toBe('one\n');
});
afterEach(() => {
  tail.close();
  rmSync(folder, { recursive: true });
});

/** What is read from here to the end, which must be the same without the tail. */
function read(from: number, to: number): string {
  const piece = tail.next(from, to);
  expect(piece).toEqual(nextPiece(log, from, to));
  return piece.missing ? `${piece.missing.cause} up to ${piece.to}` : piece.data.toString();
}

test.each<[string, () => void, string]>([
  ['grows', () => appendFileSync(log, 'two\n'), 'two\n'],
  ['goes on in another file', () => writeFileSync(segmentPath(log, 4), 'two\n'), 'two\n'],
  [
    'goes on in another file, and somebody appends to the old one',
    () => (writeFileSync(segmentPath(log, 4), 'two\n'), appendFileSync(log, 'foreign')),
    'two\n',
  ],
  [
    'was written back under its name',
    () => (writeFileSync(`${log}.new`, 'one\ntwo\n'), renameSync(`${log}.new`, log)),
    'two\n',
  ],
])('a log that %s is read on', (_how, change, expected) => {
  change();
  expect(read(4, 8)).toBe(expected);
});

test('a part that was lost since the last read is told, not shown as zeros', () => {
  recordLoss(log, { from: 2, to: 8 });
  truncateSync(log, 2);
  truncateSync(log, 8);
  expect(read(4, 8)).toBe('truncated up to 8');
});

test('a log that was deleted is not read from the file that is still open', () => {
  rmSync(log);
  expect(() => tail.next(0, 4)).toThrow('was deleted or moved away');
});

test('it keeps one file open, and none once it is closed', () => {
  const open = (): number => readdirSync('/proc/self/fd').length;
  const before = open();
  for (let end = 8; end < 80; end += 4) {
    appendFileSync(log, 'more');
    expect(read(end - 4, end)).toBe('more');
    tail.next(0, end);
  }
  expect(open()).toBe(before);
  tail.close();
  tail.next(0, 4);
  expect(open()).toBe(before - 1);
});

// Applies the hunks of one file to its text. Pure.
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import { FileLines } from './find-lines';
import type { Hunk } from './parse-patch';

const MARK = '\ufeff';

interface Replacement {
  at: number;
  removed: number;
  lines: string[];
}

/**
 * The text with all hunks applied; it ends with a newline. Context lines stay as they are in the file, even if they
 * differ in white space. Throws `patch_failed` with the hunk, what it expects and the nearest match.
 */
export function applyHunks(path: string, text: string, hunks: readonly Hunk[]): string {
  // No editor shows a byte order mark, so no patch has one: it stays.
  const mark = text.startsWith(MARK) ? MARK : '';
  // The patch uses "\n"; a file whose lines all end in "\r\n" keeps that.
  const isDos = text.includes('\r\n') && !/(^|[^\r])\n/.test(text);
  const plain = text.slice(mark.length);
  const lines = (isDos ? plain.replaceAll('\r\n', '\n') : plain).split('\n');
  if (lines.at(-1) === '') lines.pop();
  const file = new FileLines(lines);
  const replacements: Replacement[] = [];
  let from = 0;
  for (const [index, hunk] of hunks.entries()) {
    const place = locate(file, hunk, from, `hunk ${index + 1} of ${path}`);
    replacements.push(place);
    from = place.at + place.removed;
  }
  for (const { at, removed, lines: put } of replacements.reverse()) lines.splice(at, removed, ...put);
  const joined = lines.map((line) => `${line}\n`).join('');
  const changed = joined.startsWith(MARK) ? joined : mark + joined;
  return isDos ? changed.replaceAll('\n', '\r\n') : changed;
}

function locate(file: FileLines, hunk: Hunk, start: number, name: string): Replacement {
  const { lines } = file;
  let from = start;
  for (const heading of hunk.headings) {
    const at = file.find([heading], from);
    if (at === undefined) throw notFound(file, [heading], { name: `the heading of ${name}`, from });
    from = at + 1;
  }
  const added = hunk.lines.filter(({ kind }) => kind === 'add').map(({ text }) => text);
  let expected = hunk.lines.filter(({ kind }) => kind !== 'add').map(({ text }) => text);
  // Without a context line: after the heading, otherwise at the end of the file.
  if (expected.length === 0) {
    const at = hunk.headings.length > 0 && !hunk.atEnd ? from : lines.length;
    return { at, removed: 0, lines: added };
  }
  let at = file.find(expected, from, hunk.atEnd);
  if (at === undefined && expected.at(-1) === '') {
    // The newline of the last line shows up as an extra empty line.
    expected = expected.slice(0, -1);
    at = expected.length > 0 ? file.find(expected, from, hunk.atEnd) : undefined;
  }
  if (at === undefined) throw notFound(file, expected, { name, from, atEnd: hunk.atEnd });
  return { at, removed: expected.length, lines: replaced(lines, at, hunk, expected.length) };
}

function replaced(lines: readonly string[], at: number, hunk: Hunk, expected: number): string[] {
  const put: string[] = [];
  let read = 0;
  for (const { kind, text } of hunk.lines) {
    if (kind === 'add') put.push(text);
    else if (read < expected) {
      if (kind === 'keep') put.push(lines[at + read] ?? text);
      read += 1;
    }
  }
  return put;
}

interface Search {
  name: string;
  from: number;
  atEnd?: boolean;
}

function notFound(
  file: FileLines,
  expected: readonly string[],
  { name, from, atEnd = false }: Search,
): HoldfastError {
  const text = expected.map((line) => `\n  ${line}`).join('');
  const where = atEnd ? ' at the end of the file' : from > 0 ? ` after line ${from}` : '';
  const reason = `${name} expects these lines${where}:${text}\n${nearestText(file, expected, from)}`;
  return new HoldfastError('patch_failed', { reason });
}

function nearestText(file: FileLines, expected: readonly string[], from: number): string {
  const { lines } = file;
  const elsewhere = file.find(expected, 0);
  if (elsewhere !== undefined)
    return `They are at line ${elsewhere + 1}, ${elsewhere < from ? 'which an earlier heading or hunk has passed' : 'not at the end'}.`;
  const nearest = file.nearest(expected);
  if (!nearest) return `No similar place was found in the file of ${lines.length} lines.`;
  const found = lines[nearest.at];
  const got = found === undefined ? 'the end of the file' : JSON.stringify(found);
  return `Nearest: line ${nearest.at + 1} is ${got}, expected ${JSON.stringify(nearest.wanted)}.`;
}

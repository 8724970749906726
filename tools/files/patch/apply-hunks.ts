// Applies the hunks of one file to its text. Pure.
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import { FileLines } from './find-lines';
import { indentationOf } from './indentation';
import { endBetween, joinLines, splitLines, type Line } from './line-ends';
import type { Hunk } from './parse-patch';

const MARK = '\ufeff';

interface Replacement {
  at: number;
  removed: number;
  lines: Line[];
}

/**
 * The text with all hunks applied. Context lines stay as they are in the file, even if they differ in white space. Changed
 * lines take the ends of the lines that they replace or stand between, and the last line of the file keeps its end or lack
 * of one, unless the patch marks it. Throws `patch_failed` with the hunk, what it expects and the nearest match.
 */
export function applyHunks(path: string, text: string, hunks: readonly Hunk[]): string {
  // No editor shows a byte order mark, so no patch has one: it stays.
  const mark = text.startsWith(MARK) ? MARK : '';
  const { lines, isOpen, usual } = splitLines(text.slice(mark.length));
  const file = new FileLines(lines.map((line) => line.text));
  const replacements: Replacement[] = [];
  let from = 0;
  for (const [index, hunk] of hunks.entries()) {
    const { at, removed } = locate(file, hunk, from, `hunk ${index + 1} of ${path}`);
    replacements.push({ at, removed, lines: replaced(lines, { at, removed }, hunk, usual) });
    from = at + removed;
  }
  for (const { at, removed, lines: put } of replacements.reverse()) lines.splice(at, removed, ...put);
  const lastEnd = hunks.findLast(({ lastLine }) => lastLine !== null)?.lastLine;
  const joined = joinLines(lines, lastEnd ? lastEnd === 'open' : isOpen);
  return joined.startsWith(MARK) ? joined : mark + joined;
}

function locate(
  file: FileLines,
  hunk: Hunk,
  start: number,
  name: string,
): Pick<Replacement, 'at' | 'removed'> {
  const { lines } = file;
  let from = start;
  for (const heading of hunk.headings) {
    const at = file.find([heading], from);
    if (at === undefined) throw notFound(file, [heading], { name: `the heading of ${name}`, from });
    from = at + 1;
  }
  let expected = hunk.lines.filter(({ kind }) => kind !== 'add').map(({ text }) => text);
  // Without a context line: after the heading, otherwise at the end of the file.
  if (expected.length === 0)
    return { at: hunk.headings.length > 0 && !hunk.atEnd ? from : lines.length, removed: 0 };
  let at = file.find(expected, from, hunk.atEnd);
  if (at === undefined && expected.at(-1) === '') {
    // The newline of the last line shows up as an extra empty line.
    expected = expected.slice(0, -1);
    at = expected.length > 0 ? file.find(expected, from, hunk.atEnd) : undefined;
  }
  if (at === undefined) throw notFound(file, expected, { name, from, atEnd: hunk.atEnd });
  return { at, removed: expected.length };
}

/** The lines that take the place of `removed` ones at `at`. */
function replaced(
  lines: readonly Line[],
  { at, removed }: Pick<Replacement, 'at' | 'removed'>,
  hunk: Hunk,
  usual: Line['end'],
): Line[] {
  const put: Line[] = [];
  let read = 0;
  const expected = hunk.lines.filter(({ kind }) => kind !== 'add').slice(0, removed);
  const indented = indentationOf(
    expected.map(({ text }, index) => ({ file: lines[at + index]?.text ?? text, patch: text })),
  );
  /** Removed lines that no added line has replaced yet. */
  let gone: Line[] = [];
  for (const { kind, text } of hunk.lines) {
    const old = read < removed ? lines[at + read] : undefined;
    if (kind === 'add') {
      const end = gone.shift()?.end ?? endBetween(lines[at + read - 1], lines[at + read], usual);
      put.push({ text: indented(text), end });
    } else if (old) {
      if (kind === 'keep') put.push(old);
      gone = kind === 'keep' ? [] : [...gone, old];
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

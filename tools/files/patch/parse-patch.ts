// Reads the patch format of OpenAI's Codex: `*** Begin Patch`, file sections, `*** End Patch`. Pure.
import { HoldfastError } from '../../../contracts/errors/holdfast-error';

/** A line of a hunk: kept, removed or added. */
export interface HunkLine {
  kind: 'keep' | 'remove' | 'add';
  text: string;
}

export interface Hunk {
  /** Lines after `@@`: each is located before the next, then the hunk's own lines. */
  headings: string[];
  lines: HunkLine[];
  /** The hunk's lines are the last of the file. */
  atEnd: boolean;
  /** Whether the file's last line has a line end afterwards; null: as before. */
  lastLine: 'open' | 'closed' | null;
}

export type FileChange =
  | { kind: 'add'; path: string; content: string }
  | { kind: 'delete'; path: string }
  | { kind: 'update'; path: string; moveTo: string | null; hunks: Hunk[] };

const BEGIN = '*** Begin Patch';
const END = '*** End Patch';
const ADD = '*** Add File: ';
const DELETE = '*** Delete File: ';
const UPDATE = '*** Update File: ';
const MOVE = '*** Move to: ';
const END_OF_FILE = '*** End of File';
/** As `diff -u` writes it behind a last line without a line end. */
const NO_NEWLINE = '\\ No newline at end of file';

const KINDS: Record<string, HunkLine['kind']> = { ' ': 'keep', '-': 'remove', '+': 'add' };

/** Throws `patch_failed` with the line number in the patch. */
export function parsePatch(input: string): FileChange[] {
  const reader = new Reader(envelope(input));
  const changes: FileChange[] = [];
  while (!reader.isAtEnd) {
    if (reader.current.trim() === '') reader.take();
    else changes.push(readChange(reader));
  }
  if (changes.length === 0) throw failed('it changes no file: there is nothing between its begin and end.');
  return changes;
}

const failed = (reason: string): HoldfastError => new HoldfastError('patch_failed', { reason });

/** The lines between begin and end, with the number of the first. Models sometimes wrap a patch in a heredoc. */
function envelope(input: string): { lines: string[]; first: number } {
  const lines = input.replace(/\r\n/g, '\n').split('\n');
  let [start, end] = [0, lines.length];
  const trimBlank = (): void => {
    while (start < end && lines[start]?.trim() === '') start += 1;
    while (end > start && lines[end - 1]?.trim() === '') end -= 1;
  };
  trimBlank();
  const heredoc = /^\s*(?:apply_patch\s+)?<<\s*(['"]?)(\w+)\1\s*$/.exec(lines[start] ?? '');
  if (heredoc && lines[end - 1]?.trim() === heredoc[2]) [start, end] = [start + 1, end - 1];
  trimBlank();
  if (lines[start]?.trim() !== BEGIN)
    throw failed(`its first line must be "${BEGIN}", got ${JSON.stringify(lines[start] ?? '')}.`);
  if (end - start < 2 || lines[end - 1]?.trim() !== END)
    throw failed(`its last line must be "${END}", got ${JSON.stringify(lines[end - 1] ?? '')}.`);
  return { lines: lines.slice(start + 1, end - 1), first: start + 2 };
}

class Reader {
  private at = 0;

  constructor(private readonly patch: { lines: string[]; first: number }) {}

  get isAtEnd(): boolean {
    return this.at >= this.patch.lines.length;
  }
  /** Empty after the last line. */
  get current(): string {
    return this.patch.lines[this.at] ?? '';
  }
  take(): string {
    const line = this.current;
    this.at += 1;
    return line;
  }
  /** The text after `prefix`, if the line begins with it. */
  takeValue(prefix: string): string | undefined {
    const line = this.current.trim();
    if (this.isAtEnd || !line.startsWith(prefix.trim())) return undefined;
    this.at += 1;
    return line.slice(prefix.length).trim();
  }
  fault(what: string): HoldfastError {
    return failed(`line ${this.patch.first + this.at}: ${what}, got ${JSON.stringify(this.current)}.`);
  }
}

function readChange(reader: Reader): FileChange {
  const added = reader.takeValue(ADD);
  if (added !== undefined) return { kind: 'add', path: named(reader, added), content: readContent(reader) };
  const deleted = reader.takeValue(DELETE);
  if (deleted !== undefined) return { kind: 'delete', path: named(reader, deleted) };
  const updated = reader.takeValue(UPDATE);
  if (updated === undefined)
    throw reader.fault(`a section must begin with "${ADD}PATH", "${DELETE}PATH" or "${UPDATE}PATH"`);
  const path = named(reader, updated);
  const moved = reader.takeValue(MOVE);
  const moveTo = moved === undefined ? null : named(reader, moved);
  const hunks: Hunk[] = [];
  while (!reader.isAtEnd && !isSection(reader.current)) {
    if (reader.current.trim() === '' && hunks.length > 0) reader.take();
    else hunks.push(readHunk(reader, hunks.length === 0));
  }
  if (hunks.length === 0 && moveTo === null) throw failed(`the section of ${path} changes nothing.`);
  return { kind: 'update', path, moveTo, hunks };
}

function named(reader: Reader, path: string): string {
  if (path === '') throw reader.fault('a path is missing in the line before');
  return path;
}

/** At the start of its line alone: behind a space it is a line of the file, which may be about patches. */
const isSection = (line: string): boolean =>
  [ADD, DELETE, UPDATE].some((prefix) => line.startsWith(prefix.trim()));

function readContent(reader: Reader): string {
  const lines: string[] = [];
  while (!reader.isAtEnd && reader.current.startsWith('+')) lines.push(reader.take().slice(1));
  const isOpen = takeMark(reader, NO_NEWLINE);
  takeMark(reader, END_OF_FILE);
  return lines.join('\n') + (isOpen || lines.length === 0 ? '' : '\n');
}

function takeMark(reader: Reader, mark: string): boolean {
  const isThere = reader.current.trimEnd() === mark;
  if (isThere) reader.take();
  return isThere;
}

/** The heading of the first hunk may be missing. */
function readHunk(reader: Reader, isFirst: boolean): Hunk {
  const hunk: Hunk = { headings: [], lines: [], atEnd: false, lastLine: null };
  let began = false;
  while (/^@@(\s|$)/.test(reader.current)) {
    began = true;
    const heading = withoutLineNumbers(reader.take().slice(2).replace(/^ /, ''));
    if (heading.trim() !== '') hunk.headings.push(heading);
  }
  if (!began && !isFirst) throw reader.fault('a hunk must begin with "@@"');
  let isMarked = false;
  while (!reader.isAtEnd && !isSection(reader.current) && !/^@@(\s|$)/.test(reader.current)) {
    if (takeMark(reader, NO_NEWLINE)) markLastLine(hunk);
    else if (takeMark(reader, END_OF_FILE)) {
      hunk.atEnd = isMarked = true;
      break;
    } else hunk.lines.push(readLine(reader));
  }
  // Blank lines before the next section are only for readability.
  while (
    !isMarked &&
    isSection(reader.current) &&
    hunk.lines.at(-1)?.text === '' &&
    isBlank(hunk.lines.at(-1))
  )
    hunk.lines.pop();
  if (!hunk.lines.some(({ kind }) => kind !== 'keep')) throw reader.fault('the hunk before changes nothing');
  return hunk;
}

/**
 * The line before has no end. If it is removed, what replaces it has one, unless that is marked as well; if it stays, the
 * file shows.
 */
function markLastLine(hunk: Hunk): void {
  hunk.atEnd = true;
  const kind = hunk.lines.at(-1)?.kind;
  if (kind === 'add') hunk.lastLine = 'open';
  if (kind === 'remove') hunk.lastLine = 'closed';
}

const BLANK: HunkLine = { kind: 'keep', text: '' };
const isBlank = (line: HunkLine | undefined): boolean => line === BLANK;

function readLine(reader: Reader): HunkLine {
  const line = reader.current;
  const kind = KINDS[line[0] ?? ''];
  // An empty line of the file whose leading space was lost.
  if (line === '') {
    reader.take();
    return BLANK;
  }
  if (!kind) throw reader.fault('a line of a hunk must begin with " ", "-" or "+"');
  return { kind, text: reader.take().slice(1) };
}

/** Models sometimes write a heading like `diff -u`; lines are found by their text, not their number. */
const withoutLineNumbers = (heading: string): string => heading.replace(/^-\d+(,\d+)? \+\d+(,\d+)? @@ ?/, '');

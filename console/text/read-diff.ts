// Reads what git says of two states of a workspace, path by path. Lines of a file are counted as its hunk says, so that
// none of them can pass for the head of another file. Pure.
import type { PatchLine } from './read-patch';

export interface DiffOfPath {
  lines: PatchLine[];
  /** What has no lines: a mode, a folder, a content that is not text. */
  notes: string[];
  /** Not all of its lines are there. */
  isCut: boolean;
}

/** What git has no form for, one line each, before its own. */
const BESIDE =
  /^(new empty folder|deleted empty folder|not recorded any more|not recorded before|mode \d+ => \d+) (".*")$/;
const HUNK = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/;
const KINDS: Record<string, PatchLine['kind']> = { '+': 'added', '-': 'removed', ' ': 'same', '\\': 'place' };

/** By path, as lists of changed files name them. */
export function readDiff(text: string): Map<string, DiffOfPath> {
  return new DiffReader(text.replace(/\n$/, '').split('\n')).read();
}

class DiffReader {
  private readonly found = new Map<string, DiffOfPath>();
  private at = 0;

  constructor(private readonly lines: readonly string[]) {}

  read(): Map<string, DiffOfPath> {
    for (let line = this.lines[0]; line !== undefined && BESIDE.test(line); line = this.lines[++this.at]) {
      const [, note = '', path = '""'] = BESIDE.exec(line) ?? [];
      this.of(JSON.parse(path) as string).notes.push(note);
    }
    let current: DiffOfPath | null = null;
    while (this.at < this.lines.length) {
      const line = this.lines[this.at++] ?? '';
      if (line.startsWith('diff --git ')) {
        const path = pathOfHead(line.slice('diff --git '.length));
        current = path === null ? null : this.of(path);
      } else if (current) this.takeLine(line, current);
    }
    return this.found;
  }

  private takeLine(line: string, file: DiffOfPath): void {
    const hunk = HUNK.exec(line);
    if (hunk) {
      file.lines.push({ kind: 'place', text: line });
      this.takeHunk(file, Number(hunk[1] ?? 1), Number(hunk[2] ?? 1));
    } else if (line.startsWith('Binary files ')) file.notes.push('not text');
    else if (/^((old|new|deleted file|new file) mode \d+)$/.test(line) && !/mode 100644$/.test(line))
      file.notes.push(line);
  }

  private takeHunk(file: DiffOfPath, before: number, after: number): void {
    let [old, now] = [before, after];
    for (; this.at < this.lines.length; this.at++) {
      const line = this.lines[this.at] ?? '';
      const kind = KINDS[line[0] ?? ' '];
      if (kind === undefined || (old <= 0 && now <= 0 && kind !== 'place')) break;
      if (kind === 'same' || kind === 'removed') old -= 1;
      if (kind === 'same' || kind === 'added') now -= 1;
      file.lines.push({ kind, text: kind === 'place' ? line : line.slice(1) });
    }
    if (old > 0 || now > 0) file.isCut = true;
  }

  private of(path: string): DiffOfPath {
    const known = this.found.get(path) ?? { lines: [], notes: [], isCut: false };
    this.found.set(path, known);
    return known;
  }
}

/** Of `a/PATH b/PATH`: both are the same one, since nothing is reported as renamed. */
function pathOfHead(names: string): string | null {
  const half = names.slice(0, (names.length - 1) / 2);
  if (names !== `${half} ${half.replace(/^("?)a\//, '$1b/')}`) return null;
  return half.startsWith('"') ? unquoted(half.slice(1, -1)).slice(2) : half.slice(2);
}

const ESCAPES: Record<string, number> = {
  ...{ a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 },
  ...{ '"': 34, '\\': 92 },
};

/** As git quotes names: bytes in octal, and C's escapes. */
function unquoted(name: string): string {
  const bytes: number[] = [];
  for (const part of name.match(/\\[0-7]{3}|\\.|[^\\]+/gs) ?? [])
    if (!part.startsWith('\\')) bytes.push(...new TextEncoder().encode(part));
    else if (part.length === 4) bytes.push(Number.parseInt(part.slice(1), 8));
    else bytes.push(ESCAPES[part[1] ?? ''] ?? 63);
  return new TextDecoder().decode(new Uint8Array(bytes));
}

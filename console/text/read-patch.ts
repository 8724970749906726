// Reads patches file by file: those of `apply_patch` (the format of OpenAI's Codex) and unified diffs. Pure.

export interface FilePatch {
  /** What happens to the file, in words. */
  what: 'adds' | 'changes' | 'deletes' | 'moves';
  path: string;
  /** Where it is moved to. */
  to?: string;
  lines: PatchLine[];
}

export interface PatchLine {
  kind: 'added' | 'removed' | 'same' | 'place';
  /** Without its sign. */
  text: string;
}

const CODEX = /^\*\*\* (Add|Update|Delete) File: (.+)$/;
const CODEX_BEGIN = '*** Begin Patch';
const WHAT = { Add: 'adds', Update: 'changes', Delete: 'deletes' } as const;

/** The files of the patch in a text, such as a here-document; null if there is none. */
export function readPatch(text: string): FilePatch[] | null {
  const begin = text.indexOf(CODEX_BEGIN);
  const files = begin >= 0 ? codexFiles(text.slice(begin).split('\n')) : unifiedFiles(text.split('\n'));
  return files.length > 0 ? files : null;
}

function codexFiles(lines: readonly string[]): FilePatch[] {
  const files: FilePatch[] = [];
  for (const line of lines) {
    if (line.startsWith('*** End Patch')) break;
    const [, verb, path] = CODEX.exec(line) ?? [];
    const [, to] = /^\*\*\* Move to: (.+)$/.exec(line) ?? [];
    const file = files.at(-1);
    if (verb !== undefined && path !== undefined)
      files.push({ what: WHAT[verb as keyof typeof WHAT], path, lines: [] });
    else if (to !== undefined && file) Object.assign(file, { what: 'moves', to });
    else if (!line.startsWith('***')) file?.lines.push(lineOf(line));
  }
  return files;
}

function unifiedFiles(lines: readonly string[]): FilePatch[] {
  const files: FilePatch[] = [];
  for (const [index, line] of lines.entries()) {
    const [, to] = /^\+\+\+ (?:b\/)?([^\t]+)/.exec(line) ?? [];
    const [, from] = /^--- (?:a\/)?([^\t]+)/.exec(lines[index - 1] ?? '') ?? [];
    if (to !== undefined && from !== undefined) {
      files.at(-1)?.lines.pop();
      files.push({ ...headOf(from, to), lines: [] });
    } else if (files.length > 0 && !/^(diff|index|new file|deleted file|similarity|rename) /.test(line))
      files.at(-1)?.lines.push(lineOf(line));
  }
  return files;
}

function headOf(from: string, to: string): Pick<FilePatch, 'what' | 'path' | 'to'> {
  if (from === '/dev/null') return { what: 'adds', path: to };
  if (to === '/dev/null') return { what: 'deletes', path: from };
  return from === to ? { what: 'changes', path: to } : { what: 'moves', path: from, to };
}

function lineOf(line: string): PatchLine {
  if (line.startsWith('+')) return { kind: 'added', text: line.slice(1) };
  if (line.startsWith('-')) return { kind: 'removed', text: line.slice(1) };
  if (line.startsWith('@@')) return { kind: 'place', text: line };
  return { kind: 'same', text: line.replace(/^ /, '') };
}

/** A file that is written as a whole. */
export const writtenFile = (path: string, content: string): FilePatch => ({
  ...{ what: 'adds', path },
  lines: content
    .replace(/\n$/, '')
    .split('\n')
    .map((text) => ({ kind: 'added', text })),
});

// The difference between two recorded states as text: git's unified diff, and lines for what git has no form for.
import { shownPath, type BytePath } from '../byte-path';
import { fileMode, folderMode } from '../git/facts';
import type { Git } from '../git/git-run';
import type { Recorded } from '../git/object-reader';
import { kindsOfChanges } from './file-changes';

const DIFF = ['diff-tree', '-r', '-p', '--no-renames', '--no-ext-diff', '--no-textconv', '--no-color'];

export interface FileDiff {
  /** As files and git have it: to be made inert before it is shown. What is not UTF-8 becomes U+FFFD. */
  text: string;
  isCut: boolean;
}

/** @param paths files and folders, relative to the workspace; undefined: all */
export async function fileDiff(
  git: Git,
  [from, to]: readonly [Recorded, Recorded],
  { maxBytes, paths = [] }: { maxBytes: number; paths?: readonly string[] },
): Promise<FileDiff> {
  const beside = await linesBeside(git, [from, to], paths);
  const chunks: Buffer[] = [Buffer.from(beside)];
  let bytes = chunks[0]?.length ?? 0;
  const take = (chunk: Buffer): boolean => {
    chunks.push(chunk);
    bytes += chunk.length;
    return bytes <= maxBytes;
  };
  const literal = paths.map((path) => `:(literal)${path}`);
  if (bytes <= maxBytes) await git.run([...DIFF, from.tree, to.tree, '--', ...literal], { onOutput: take });
  const whole = Buffer.concat(chunks);
  if (whole.length <= maxBytes) return { text: whole.toString('utf8'), isCut: false };
  const end = whole.lastIndexOf('\n', maxBytes - 1);
  return { text: whole.toString('utf8', 0, end + 1), isCut: true };
}

/** Empty folders, permissions that git has no mode for, and files that were left out. */
async function linesBeside(
  git: Git,
  [from, to]: readonly [Recorded, Recorded],
  paths: readonly string[],
): Promise<string> {
  const lines: string[] = [];
  for (const [path, kind] of await kindsOfChanges(git, from, to)) {
    if (!isMeant(shownPath(path), paths)) continue;
    const named = JSON.stringify(shownPath(path));
    const isFolder = path.endsWith('/');
    if (isFolder && kind === 'added') lines.push(`new empty folder ${named}`);
    else if (isFolder && kind === 'deleted') lines.push(`deleted empty folder ${named}`);
    else if (to.facts.left.has(path) && from.facts.left.has(path))
      lines.push(`changed, and not recorded ${named}`);
    else if (to.facts.left.has(path)) lines.push(`not recorded any more ${named}`);
    else if (from.facts.left.has(path)) lines.push(`not recorded before ${named}`);
    else if (kind !== 'deleted') lines.push(...modeLine(path, [from, to]).map((line) => `${line} ${named}`));
  }
  return lines.map((line) => `${line}\n`).join('');
}

function modeLine(path: BytePath, [from, to]: readonly [Recorded, Recorded]): string[] {
  const [before, after] = [from, to].map(({ facts }) =>
    path.endsWith('/') ? folderMode(facts, path.slice(0, -1)) : facts.modes.get(path),
  );
  if (before === after) return [];
  const shown = (mode: number | undefined, { facts }: Recorded): string =>
    (mode ?? fileMode(facts, path, 0o100644)).toString(8);
  return [`mode ${shown(before, from)} => ${shown(after, to)}`];
}

const isMeant = (path: string, paths: readonly string[]): boolean =>
  paths.length === 0 || paths.some((one) => path === one || path.startsWith(`${one.replace(/\/$/, '')}/`));

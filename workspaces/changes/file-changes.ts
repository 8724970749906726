// What differs between two recorded states, for people: counts, paths, lines.
import type { ChangeCounts, FileChange, FileChanges } from '../../contracts/workspaces/checkpoints';
import { byBytes, fromBytes, shownPath, type BytePath } from '../byte-path';
import { noFacts } from '../git/facts';
import type { Git } from '../git/git-run';
import { EMPTY_TREE, foldersIn, readCheckpoint, treeDifferences, type Recorded } from '../git/object-reader';

const MAX_PATHS = 200;
/** Counting lines reads all contents: of more files it would take long. */
const MAX_COUNTED = 2_000;

type Kind = FileChange['kind'];

const NOTHING: Recorded = { hash: '', tree: EMPTY_TREE, facts: noFacts() };

/** Throws `checkpoint_missing`. */
export const readSide = async (git: Git, hash: string | null): Promise<Recorded> =>
  hash === null ? NOTHING : readCheckpoint(git, hash);

/** All paths that differ; folders end with a slash. */
export async function kindsOfChanges(git: Git, from: Recorded, to: Recorded): Promise<Map<BytePath, Kind>> {
  const kinds = new Map<BytePath, Kind>();
  for (const { path, before, after } of await treeDifferences(git, from.tree, to.tree)) {
    const isLeft =
      (before === null && from.facts.left.has(path)) || (after === null && to.facts.left.has(path));
    kinds.set(
      path,
      before === null && !isLeft ? 'added' : after === null && !isLeft ? 'deleted' : 'modified',
    );
  }
  for (const folder of to.facts.empty) if (!from.facts.empty.has(folder)) kinds.set(`${folder}/`, 'added');
  for (const folder of from.facts.empty) if (!to.facts.empty.has(folder)) kinds.set(`${folder}/`, 'deleted');
  for (const path of [...from.facts.left.keys(), ...to.facts.left.keys()])
    if (from.facts.left.get(path) !== to.facts.left.get(path) && !kinds.has(path))
      kinds.set(path, 'modified');
  if (from !== NOTHING)
    for (const path of await otherModes(git, from, to)) if (!kinds.has(path)) kinds.set(path, 'modified');
  return new Map([...kinds].sort(([a], [b]) => byBytes(a, b)));
}

/** Paths that going from one state to the other changes: not those of files that no checkpoint holds. */
export async function plannedChanges(
  git: Git,
  from: Recorded,
  to: Recorded,
): Promise<{ kinds: Map<BytePath, Kind>; notRestored: Map<BytePath, string> }> {
  const [kinds, notRestored] = await Promise.all([kindsOfChanges(git, from, to), unlike(git, from, to)]);
  for (const path of notRestored.keys()) kinds.delete(path);
  return { kinds, notRestored };
}

/** Files that are not as they were, and stay so, since one of the states does not hold them: in what they differ. */
async function unlike(git: Git, now: Recorded, to: Recorded): Promise<Map<BytePath, string>> {
  const [isNow, wasThen] = [now.facts.left, to.facts.left];
  if (isNow.size + wasThen.size === 0) return new Map();
  const recorded = new Map(
    (await treeDifferences(git, now.tree, to.tree)).map((one) => [one.path, one] as const),
  );
  const found = new Map<BytePath, string>();
  for (const [path, stamp] of wasThen)
    if (isNow.has(path) ? isNow.get(path) !== stamp : recorded.get(path)?.before)
      found.set(path, 'it has changed since');
    else if (!isNow.has(path)) found.set(path, 'it is missing');
  for (const path of isNow.keys())
    if (!wasThen.has(path) && !recorded.get(path)?.after) found.set(path, 'it was not there, or ignored');
  return new Map([...found].sort(([a], [b]) => byBytes(a, b)));
}

/** Files and folders that are in both, with other permissions. */
async function otherModes(git: Git, from: Recorded, to: Recorded): Promise<BytePath[]> {
  const paths = [...new Set([...from.facts.modes.keys(), ...to.facts.modes.keys()])].filter(
    (path) => from.facts.modes.get(path) !== to.facts.modes.get(path),
  );
  if (!paths.some((path) => path.endsWith('/'))) return paths;
  const sides = await Promise.all([from, to].map(({ tree }) => foldersIn(git, tree)));
  const inBoth = [from, to].map(({ facts }, at) => new Set(['', ...facts.empty, ...(sides[at] ?? [])]));
  return paths.filter((path) => !path.endsWith('/') || inBoth.every((side) => side.has(path.slice(0, -1))));
}

/**
 * @param max how many paths are named
 * @param given which paths; undefined: all that differ
 */
export async function fileChanges(
  git: Git,
  [from, to]: readonly [Recorded, Recorded],
  max = MAX_PATHS,
  given?: Map<BytePath, Kind>,
): Promise<FileChanges> {
  const kinds = given ?? (await kindsOfChanges(git, from, to));
  const counts: ChangeCounts = { added: 0, modified: 0, deleted: 0 };
  for (const kind of kinds.values()) counts[kind]++;
  const lines =
    kinds.size > 0 && kinds.size <= MAX_COUNTED
      ? await changedLines(git, from.tree, to.tree)
      : new Map<string, never>();
  const isLeft = (path: BytePath): boolean => from.facts.left.has(path) || to.facts.left.has(path);
  const paths = [...kinds].slice(0, max).map(([path, kind]) => ({
    path: shownPath(path),
    kind,
    ...(!isLeft(path) && lines.get(path)),
  }));
  return { counts, paths, omitted: kinds.size - paths.length };
}

async function changedLines(
  git: Git,
  from: string,
  to: string,
): Promise<Map<BytePath, { insertions: number; deletions: number }>> {
  const args = ['diff-tree', '-r', '-z', '--numstat', '--no-renames', '--no-ext-diff', '--no-textconv'];
  const lines = fromBytes(await git.run([...args, from, to])).split('\0');
  const found = new Map<BytePath, { insertions: number; deletions: number }>();
  for (const line of lines) {
    // Not text: `-` for both.
    const [, insertions, deletions, path = ''] = /^(\d+)\t(\d+)\t([^]+)$/.exec(line) ?? [];
    if (insertions !== undefined)
      found.set(path, { insertions: Number(insertions), deletions: Number(deletions) });
  }
  return found;
}

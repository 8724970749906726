// Refuses to change files that somebody else has changed since they were last known.
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { foldersOn, shownPath, type BytePath } from '../byte-path';
import type { Git } from '../git/git-run';
import type { Recorded } from '../git/object-reader';
import type { RewindChoice } from '../workspace-choices';
import { kindsOfChanges, plannedChanges, readSide } from './file-changes';

const MAX_NAMED = 20;

/** Throws `workspace_changed` if going from `before` to `to` would change files that others have changed. */
export async function refuseForeign(
  git: Git,
  { expected, foreign }: RewindChoice,
  [before, to]: readonly [Recorded, Recorded],
): Promise<void> {
  const { kinds: planned } = await plannedChanges(git, before, to);
  const since = expected === null || expected === before.hash ? [] : [[expected, before.hash] as const];
  const others = new Set<BytePath>();
  for (const [from, until] of [...foreign, ...since]) {
    const changed = await kindsOfChanges(git, await readSide(git, from), await readSide(git, until));
    for (const path of changed.keys()) if (planned.has(path)) others.add(path);
  }
  if (others.size > 0) throw changedByOthers(others);
}

/** Files that going from `before` to `to` changes, and that are neither of the two now: somebody else has changed them. */
export async function changedSince(
  git: Git,
  { before, to, now }: { before: Recorded; to: Recorded; now: Recorded },
): Promise<Set<BytePath>> {
  const [{ kinds: planned }, sinceBefore, fromTo] = await Promise.all([
    plannedChanges(git, before, to),
    kindsOfChanges(git, before, now),
    kindsOfChanges(git, to, now),
  ]);
  // Folders that were closed are open while they are worked in: their modes say nothing.
  const left = [...planned.keys()].filter((path) => !path.endsWith('/') && fromTo.has(path));
  const theirs = new Set(left.filter((path) => sinceBefore.has(path)));
  // A file that would take the place of a folder with theirs, or of theirs with a folder.
  const above = new Set([...theirs].flatMap(foldersOn));
  for (const path of left)
    if (above.has(path) || foldersOn(path).some((folder) => theirs.has(folder))) theirs.add(path);
  return theirs;
}

/** @param begun an earlier attempt has changed some of the files already */
export const changedByOthers = (paths: ReadonlySet<BytePath>, { begun = false } = {}): HoldfastError =>
  new HoldfastError('workspace_changed', { ...namedPaths(paths), ...(begun && { begun }) });

/** The first few of them, and their number. */
export function namedPaths(paths: ReadonlySet<BytePath>): { got: string; count: number } {
  const named = [...paths].sort().slice(0, MAX_NAMED).map(shownPath).join(', ');
  const more = paths.size > MAX_NAMED ? ` and ${paths.size - MAX_NAMED} more` : '';
  return { got: `${named}${more}`, count: paths.size };
}

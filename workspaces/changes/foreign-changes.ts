// Refuses to change files that somebody else has changed since they were last known.
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { shownPath, type BytePath } from '../byte-path';
import type { Git } from '../git/git-run';
import type { Recorded } from '../git/object-reader';
import type { RewindChoice } from '../workspace-choices';
import { kindsOfChanges, readSide } from './file-changes';

const MAX_NAMED = 20;

/** Throws `workspace_changed` if going from `before` to `to` would change files that others have changed. */
export async function refuseForeign(
  git: Git,
  { expected, foreign }: RewindChoice,
  [before, to]: readonly [Recorded, Recorded],
): Promise<void> {
  const planned = await kindsOfChanges(git, before, to);
  const since = expected === null || expected === before.hash ? [] : [[expected, before.hash] as const];
  const others = new Set<BytePath>();
  for (const [from, until] of [...foreign, ...since]) {
    const changed = await kindsOfChanges(git, await readSide(git, from), await readSide(git, until));
    for (const path of changed.keys()) if (planned.has(path)) others.add(path);
  }
  if (others.size === 0) return;
  const named = [...others].sort().slice(0, MAX_NAMED).map(shownPath).join(', ');
  const more = others.size > MAX_NAMED ? ` and ${others.size - MAX_NAMED} more` : '';
  throw new HoldfastError('workspace_changed', { got: `${named}${more}`, count: others.size });
}

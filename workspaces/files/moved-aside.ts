// What no checkpoint holds is moved aside when it is in the way, and comes back as soon as a rewind frees its place.
import { foldersOn, type BytePath } from '../byte-path';
import type { Git } from '../git/git-run';
import { filesIn, type Recorded } from '../git/object-reader';
import { allFolders, type FilePlan } from './file-plan';
import { isDenied, type Inside } from './inside';
import type { ReachInside } from './reach-inside';

export interface MovedAside {
  /** Where it was. */
  path: BytePath;
  /** Where it is. */
  to: BytePath;
}

const nameOf = (path: BytePath, id: string, number: number): BytePath =>
  `${path}.kept-${id}${number === 0 ? '' : `-${number}`}`;

/** A free name beside it. */
export function asideOf(path: BytePath, id: string, inside: Inside): BytePath {
  let number = 0;
  while (inside.stats(nameOf(path, id, number))) number += 1;
  return nameOf(path, id, number);
}

/** What was moved aside for one of these paths, also before the process was killed that began. */
export function movedFor(paths: Iterable<BytePath>, id: string, inside: Inside): MovedAside[] {
  const places = new Set<BytePath>();
  for (const path of paths) {
    const own = path.replace(/\/$/, '');
    for (const place of [...foldersOn(own), own]) places.add(place);
  }
  const moved: MovedAside[] = [];
  for (const path of [...places].sort())
    for (let number = 0; isSeen(nameOf(path, id, number), inside); number++)
      moved.push({ path, to: nameOf(path, id, number) });
  return moved;
}

/** The plan may have closed a folder for this user. */
function isSeen(path: BytePath, inside: Inside): boolean {
  try {
    return inside.stats(path) !== undefined;
  } catch (err) {
    if (isDenied(err)) return false;
    throw err;
  }
}

const isIn = (path: BytePath, folder: BytePath): boolean => path === folder || path.startsWith(`${folder}/`);

/**
 * What comes back with a plan: the plan frees its place, and the state to bring back has nothing of its own under the name
 * that it has now. The plan leaves that alone from then on.
 */
export async function comingBack(
  plan: FilePlan,
  known: readonly MovedAside[],
  { git, to, inside, reach }: { git: Git; to: Recorded; inside: Inside; reach: ReachInside },
): Promise<MovedAside[]> {
  const there = known.filter(
    (one) => inside.stats(one.to) && reach.mayChange(one.path) && reach.mayChange(one.to),
  );
  if (there.length === 0) return [];
  const recorded = [
    ...(await filesIn(git, to.tree)),
    ...(await allFolders(git, to)),
    ...to.facts.left.keys(),
  ];
  const freed = new Set([...plan.remove, ...plan.dropFolders]);
  const written = new Set(plan.write.map(({ path }) => path));
  const folders = new Set(plan.folders);
  const back = there.filter((one) => {
    if (written.has(one.path) || recorded.some((path) => isIn(path, one.to))) return false;
    if (folders.has(one.path) && !inside.folderStats(one.to)) return false;
    return freed.has(one.path) || !inside.stats(one.path);
  });
  const isBack = (path: BytePath): boolean => back.some((one) => isIn(path, one.to));
  plan.remove = plan.remove.filter((path) => !isBack(path));
  plan.dropFolders = plan.dropFolders.filter((path) => !isBack(path));
  for (const modes of [plan.fileModes, plan.folderModes])
    for (const path of modes.keys()) if (isBack(path)) modes.delete(path);
  return back;
}

// What is to be done to the files of a workspace to get from one recorded state to another one.
import { byBytes, foldersOn, type BytePath } from '../byte-path';
import { fileMode, folderMode, type TreeFacts } from '../git/facts';
import type { Git } from '../git/git-run';
import { foldersIn, treeDifferences, type Recorded, type TreeEntry } from '../git/object-reader';

export interface WrittenFile extends TreeEntry {
  path: BytePath;
  permissions: number;
  /** Whether a recorded file is replaced: whatever else lies there is moved aside. */
  isRecorded: boolean;
}

export interface FilePlan {
  /** Files and links to delete. */
  remove: BytePath[];
  /** Folders to delete if nothing is in them any more; inner ones first. */
  dropFolders: BytePath[];
  /** Folders that have to be there; outer ones first. */
  folders: BytePath[];
  write: WrittenFile[];
  /** Permissions of files that stay. */
  fileModes: Map<BytePath, number>;
  /** Inner folders first. */
  folderModes: Map<BytePath, number>;
}

/** What is left of a plan that was begun: the paths that may be touched, and the state that it was made for. */
export interface Begun {
  paths: ReadonlySet<BytePath>;
  before: Recorded;
}

/** @param only undefined: all may be touched */
export async function planFiles(
  git: Git,
  [from, to]: readonly [Recorded, Recorded],
  only?: Begun,
): Promise<FilePlan> {
  const [differences, before, after, atFirst] = await Promise.all([
    treeDifferences(git, from.tree, to.tree),
    allFolders(git, from),
    allFolders(git, to),
    only && allFolders(git, only.before),
  ]);
  const plan: FilePlan = {
    remove: [],
    dropFolders: [],
    folders: [],
    write: [],
    fileModes: new Map(),
    folderModes: new Map(),
  };
  const isMeant = (path: BytePath): boolean => (only?.paths.has(path) ?? true) && !to.facts.left.has(path);
  const differing = new Set<BytePath>();
  for (const { path, before: old, after: entry } of differences) {
    differing.add(path);
    if (!isMeant(path)) continue;
    if (entry === null) plan.remove.push(path);
    else if (old !== null && old.oid === entry.oid && isFile(old) && isFile(entry))
      plan.fileModes.set(path, fileMode(to.facts, path, entry.mode));
    else
      plan.write.push({
        path,
        ...entry,
        permissions: fileMode(to.facts, path, entry.mode),
        isRecorded: old !== null,
      });
  }
  for (const [path, mode] of await otherModes(git, [from, to], differing))
    if (isMeant(path)) plan.fileModes.set(path, mode);
  planFolders(plan, { from: from.facts, to: to.facts, before, after });
  // Somebody has made the others since.
  if (atFirst) plan.dropFolders = plan.dropFolders.filter((folder) => atFirst.has(folder));
  return plan;
}

const isFile = ({ mode }: TreeEntry): boolean => mode === 0o100644 || mode === 0o100755;

export async function allFolders(git: Git, { tree, facts }: Recorded): Promise<Set<BytePath>> {
  const folders = new Set(await foldersIn(git, tree));
  for (const empty of facts.empty) for (const folder of [...foldersOn(empty), empty]) folders.add(folder);
  return folders;
}

/** Permissions of files that differ in nothing else: of both states one or the other has them in its facts. */
async function otherModes(
  git: Git,
  [from, to]: readonly [Recorded, Recorded],
  differing: ReadonlySet<BytePath>,
): Promise<[BytePath, number][]> {
  const paths = [...from.facts.modes.keys(), ...to.facts.modes.keys()].filter(
    (path) =>
      !path.endsWith('/') && !differing.has(path) && from.facts.modes.get(path) !== to.facts.modes.get(path),
  );
  if (paths.length === 0) return [];
  const modes = await gitModes(git, to.tree);
  return [...new Set(paths)].flatMap((path) => {
    const mode = modes.get(path);
    return mode === undefined ? [] : [[path, fileMode(to.facts, path, mode)] as [BytePath, number]];
  });
}

async function gitModes(git: Git, tree: string): Promise<Map<BytePath, number>> {
  const output = await git.run(['ls-tree', '-r', '-z', tree]);
  const modes = new Map<BytePath, number>();
  for (const line of output.toString('latin1').split('\0').slice(0, -1))
    modes.set(line.slice(line.indexOf('\t') + 1), parseInt(line, 8));
  return modes;
}

function planFolders(
  plan: FilePlan,
  {
    from,
    to,
    before,
    after,
  }: { from: TreeFacts; to: TreeFacts; before: ReadonlySet<BytePath>; after: ReadonlySet<BytePath> },
): void {
  const outwards = (a: BytePath, b: BytePath): number => byBytes(b, a);
  plan.dropFolders = [...before].filter((folder) => !after.has(folder)).sort(outwards);
  plan.folders = [...after].filter((folder) => !before.has(folder)).sort(byBytes);
  const touched = [
    ...[...plan.remove, ...plan.write.map(({ path }) => path), ...plan.fileModes.keys()],
    ...[...plan.dropFolders, ...plan.folders],
    ...['', ...after]
      .filter((folder) => folderMode(from, folder) !== folderMode(to, folder))
      .map((folder) => `${folder}/`),
  ];
  // Folders on the way that cannot be written are made so meanwhile: their modes are set even if they are to stay.
  const onTheWay = touched.flatMap(foldersOn).filter((folder) => after.has(folder));
  const folders = new Set([...plan.folders, ...onTheWay, ...(touched.length > 0 ? [''] : [])]);
  for (const folder of [...folders].sort(outwards)) plan.folderModes.set(folder, folderMode(to, folder));
}

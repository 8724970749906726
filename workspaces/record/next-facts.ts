// What a checkpoint records beside the tree, and how many paths differ from the last one. Pure.
import type { ChangeCounts } from '../../contracts/workspaces/checkpoints';
import type { BytePath } from '../byte-path';
import { LINK_MODE, USUAL_MODES, type TreeFacts, type UsualModes } from '../git/facts';
import type { FolderFact } from '../look/folder-scan';
import type { ReadFiles } from './read-files';
import type { WorkspaceState } from './workspace-state';

interface Scanned {
  folders: ReadonlyMap<BytePath, FolderFact>;
  empty: Set<BytePath>;
  /** The usual modes of a first checkpoint; undefined: the most frequent ones. */
  usual: UsualModes | undefined;
}

export function nextFacts(
  before: WorkspaceState,
  read: ReadFiles,
  { folders, empty, usual: given }: Scanned,
): { facts: TreeFacts; counts: ChangeCounts } {
  const usual = before.last === null ? (given ?? usualModes(read, folders)) : before.facts.usual;
  const modes = new Map<BytePath, number>();
  // Modes of files that were not looked at are as they were; those of folders are all known.
  for (const [path, mode] of before.facts.modes)
    if (!path.endsWith('/') && !read.entries.has(path)) modes.set(path, mode);
  for (const [path, entry] of read.entries) {
    if (entry === null || entry.mode === LINK_MODE) continue;
    const mode = read.modes.get(path) ?? before.facts.modes.get(path);
    if (mode !== undefined && mode !== usualOf(usual, entry.mode)) modes.set(path, mode);
  }
  for (const [folder, { mode }] of folders) if (mode !== usual.folder) modes.set(`${folder}/`, mode);
  const facts: TreeFacts = { usual, modes, empty, left: read.leftPaths };
  return { facts, counts: counted(before, read, { facts, folders }) };
}

function counted(
  { facts: before, folders: knownFolders, last }: WorkspaceState,
  read: ReadFiles,
  { facts, folders }: { facts: TreeFacts; folders: ReadonlyMap<BytePath, FolderFact> },
): ChangeCounts {
  const counts: ChangeCounts = { added: 0, modified: 0, deleted: 0 };
  for (const kind of read.changed.values()) counts[kind]++;
  for (const folder of facts.empty) if (!before.empty.has(folder)) counts.added++;
  for (const folder of before.empty) if (!facts.empty.has(folder)) counts.deleted++;
  for (const path of before.left.keys())
    if (!facts.left.has(path) && !read.changed.has(path)) counts.modified++;
  for (const [path, stamp] of facts.left) if (before.left.get(path) !== stamp) counts.modified++;
  if (last === null) return counts;
  for (const path of new Set([...before.modes.keys(), ...facts.modes.keys()])) {
    if (before.modes.get(path) === facts.modes.get(path) || read.changed.has(path)) continue;
    const folder = path.slice(0, -1);
    const isThere = path.endsWith('/')
      ? folders.has(folder) && knownFolders.has(folder)
      : read.entries.get(path) !== null;
    if (isThere) counts.modified++;
  }
  return counts;
}

const usualOf = ({ file, program }: UsualModes, gitMode: number): number =>
  gitMode === 0o100755 ? program : file;

/** The most frequent modes: with another umask than 022 each file would have a mode of its own. */
function usualModes(read: ReadFiles, folders: ReadonlyMap<BytePath, FolderFact>): UsualModes {
  const counts = {
    file: new Map<number, number>(),
    program: new Map<number, number>(),
    folder: new Map<number, number>(),
  };
  const count = (kind: keyof UsualModes, mode: number): void =>
    void counts[kind].set(mode, (counts[kind].get(mode) ?? 0) + 1);
  for (const mode of read.modes.values()) count((mode & 0o100) === 0 ? 'file' : 'program', mode);
  // The workspace's own is often private to begin with.
  for (const [folder, { mode }] of folders) if (folder !== '') count('folder', mode);
  const most = (kind: keyof UsualModes): number =>
    [...counts[kind]].sort(([, a], [, b]) => b - a)[0]?.[0] ?? USUAL_MODES[kind];
  return { file: most('file'), program: most('program'), folder: most('folder') };
}

// Finds what git does not list: empty folders, modes of folders, sockets and devices. Only folders that changed since
// the last scan are read again, and ignored ones are not entered.
import { foldersOn, joined, nameOf, type BytePath } from '../byte-path';
import { isDenied, type Inside } from '../files/inside';
import { FOLDER_PERMISSIONS } from '../git/facts';
import type { Breather } from '../../system/processes/breather';

export interface FolderFact {
  /** Which state of the folder this is; '' if it changed too shortly before to distinguish from later changes. */
  stamp: string;
  mode: number;
  /** Names of the folders in it that are recorded, and of those that are ignored. */
  folders: BytePath[];
  ignored: BytePath[];
  /** Names of sockets, pipes and devices. */
  special: BytePath[];
  /** Nothing that is recorded is in it. */
  isEmpty: boolean;
}

export interface ScanChoice {
  known: ReadonlyMap<BytePath, FolderFact>;
  /** Whether what was ignored may not be so any more. */
  areRulesNew: boolean;
  hasFilesBelow: (folder: BytePath) => boolean;
  /** Others are not entered. */
  isReadable: (folder: BytePath) => boolean;
  ignored: (folders: readonly BytePath[]) => Promise<Set<BytePath>>;
  /** Changes since then cannot be distinguished from earlier ones by their times. */
  settledNs: bigint;
  breather: Breather;
}

export async function scanFolders(inside: Inside, choice: ScanChoice): Promise<Map<BytePath, FolderFact>> {
  const { known, areRulesNew, ignored, isReadable, hasFilesBelow, breather } = choice;
  const found = new Map<BytePath, FolderFact>();
  for (let level: BytePath[] = ['']; level.length > 0;) {
    const unknown: BytePath[] = [];
    const next: BytePath[] = [];
    for (const folder of level) {
      await breather.breathe();
      const before = known.get(folder);
      const fact = look(inside, folder, choice);
      if (!fact) continue;
      found.set(folder, fact);
      if (fact === before && !areRulesNew) {
        next.push(...fact.folders.map((name) => joined(folder, name)));
        continue;
      }
      const names = [...fact.folders, ...(fact === before ? fact.ignored : [])];
      found.set(folder, { ...fact, folders: [], ignored: [] });
      for (const path of names.map((name) => joined(folder, name)))
        if (!isReadable(path)) found.get(folder)?.ignored.push(nameOf(path));
        else if (known.has(path) || hasFilesBelow(path)) next.push(path);
        else if (!areRulesNew && before?.ignored.includes(nameOf(path)))
          found.get(folder)?.ignored.push(nameOf(path));
        else unknown.push(path);
    }
    const left = await ignored(unknown);
    for (const path of unknown)
      if (left.has(path)) found.get(parentOf(path))?.ignored.push(nameOf(path));
      else next.push(path);
    level = next.sort();
    for (const path of level) {
      const parent = found.get(parentOf(path));
      if (parent && parent !== known.get(parentOf(path))) parent.folders.push(nameOf(path));
    }
  }
  return found;
}

/** The known fact if the folder is as it was, or cannot be reached; undefined if there is none. */
function look(inside: Inside, folder: BytePath, { known, settledNs }: ScanChoice): FolderFact | undefined {
  const before = known.get(folder);
  let stats;
  try {
    stats = inside.folderStats(folder);
  } catch (err) {
    // A folder above it may not be entered: as with files, what is in there counts as unchanged.
    if (isDenied(err)) return before;
    throw err;
  }
  if (!stats) return undefined;
  const stamp = `${stats.ino}.${stats.mtimeNs}.${stats.ctimeNs}`;
  if (before?.stamp === stamp) return before;
  const isSettled = stats.ctimeNs < settledNs && stats.mtimeNs < settledNs;
  const entries = inside.entries(folder)?.filter(({ name }) => name.toLowerCase() !== '.git');
  return {
    stamp: isSettled ? stamp : '',
    mode: Number(stats.mode) & FOLDER_PERMISSIONS,
    ignored: [],
    isEmpty: false,
    ...(entries ? namesOf(entries) : { folders: before?.folders ?? [], special: before?.special ?? [] }),
  };
}

const namesOf = (
  entries: readonly { name: BytePath; isFolder: boolean; isSpecial: boolean }[],
): Pick<FolderFact, 'folders' | 'special'> => ({
  folders: entries.filter(({ isFolder }) => isFolder).map(({ name }) => name),
  special: entries.filter(({ isSpecial }) => isSpecial).map(({ name }) => name),
});

const parentOf = (path: BytePath): BytePath => foldersOn(path).at(-1) ?? '';

/**
 * Folders without files or other folders in them.
 * @param touched folders in which files were added or removed
 */
export async function emptyFolders(
  facts: ReadonlyMap<BytePath, FolderFact>,
  touched: ReadonlySet<BytePath>,
  { known, hasFilesBelow, breather }: Pick<ScanChoice, 'known' | 'hasFilesBelow' | 'breather'>,
): Promise<Set<BytePath>> {
  const empty = new Set<BytePath>();
  for (const [folder, fact] of facts) {
    await breather.breathe();
    if (fact !== known.get(folder) || touched.has(folder))
      fact.isEmpty = folder !== '' && fact.folders.length === 0 && !hasFilesBelow(folder);
    if (fact.isEmpty) empty.add(folder);
  }
  return empty;
}

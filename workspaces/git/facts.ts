// What a git tree cannot say of files and folders. It is part of a checkpoint's message, as one line of JSON. Pure.
import { byBytes, foldersOn, type BytePath } from '../byte-path';

/** Modes of the usual kinds, where a path has none of its own: a file, a program, a folder. */
export interface UsualModes {
  file: number;
  program: number;
  folder: number;
}

export interface TreeFacts {
  usual: UsualModes;
  /** Files and folders with other modes than usual; a folder's path ends with a slash, `/` is the workspace itself. */
  modes: Map<BytePath, number>;
  /** Folders in which no file is recorded, without those that hold another of them. */
  empty: Set<BytePath>;
  /** Files that were left out, though they are files: no rewind touches them. With size and time, '' where those are not known. */
  left: Map<BytePath, string>;
}

export const USUAL_MODES: UsualModes = { file: 0o644, program: 0o755, folder: 0o755 };

export const noFacts = (usual = USUAL_MODES): TreeFacts => ({
  usual,
  modes: new Map(),
  empty: new Set(),
  left: new Map(),
});

interface Written {
  usual: [number, number, number];
  modes?: Record<BytePath, string>;
  empty?: BytePath[];
  left?: Record<BytePath, string>;
}

/** What is recorded of modes; of a folder also whether its files get its group, and who may delete them. */
export const FILE_PERMISSIONS = 0o777;
export const FOLDER_PERMISSIONS = 0o3777;
/** As git writes it in a tree. */
export const LINK_MODE = 0o120000;
const TITLE = 'Checkpoint of a workspace';

const sorted = (paths: Iterable<BytePath>): BytePath[] => [...paths].sort(byBytes);

/** The same facts make the same message. ASCII, so that git takes any bytes of names. */
export function factsMessage({ usual, modes, empty, left }: TreeFacts): string {
  const written: Written = {
    usual: [usual.file, usual.program, usual.folder],
    ...(modes.size > 0 && { modes: inOrder(modes, (mode) => mode.toString(8)) }),
    ...(empty.size > 0 && { empty: sorted(empty) }),
    ...(left.size > 0 && { left: inOrder(left, (stamp) => stamp) }),
  };
  const json = JSON.stringify(written).replace(
    /[^ -~]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `${TITLE}\n\n${json}\n`;
}

// `Object.fromEntries` defines properties: a file may be called `__proto__`.
const inOrder = <T>(facts: Map<BytePath, T>, text: (fact: T) => string): Record<BytePath, string> =>
  Object.fromEntries([...facts].sort(([a], [b]) => byBytes(a, b)).map(([path, fact]) => [path, text(fact)]));

/** Throws for what is no message of a checkpoint. */
export function readFacts(message: string): TreeFacts {
  const [title, , json = ''] = message.split('\n');
  if (title !== TITLE) throw new Error('the commit is no checkpoint of a workspace');
  const { usual, modes = {}, empty = [], left = {} } = JSON.parse(json) as Written;
  const [file, program, folder] = usual;
  return {
    usual: { file, program, folder },
    modes: new Map(Object.entries(modes).map(([path, mode]) => [path, parseInt(mode, 8)])),
    empty: new Set(empty),
    left: new Map(Object.entries(left)),
  };
}

/** Permissions of a file, by its mode in the tree. */
export const fileMode = ({ usual, modes }: TreeFacts, path: BytePath, gitMode: number): number =>
  modes.get(path) ?? (gitMode === 0o100755 ? usual.program : usual.file);

export const folderMode = ({ usual, modes }: TreeFacts, folder: BytePath): number =>
  modes.get(`${folder}/`) ?? usual.folder;

/** The facts of a state in which some paths are as in another one. Those of folders end with a slash. */
export function factsKeeping(
  { usual, modes, empty, left }: TreeFacts,
  {
    of,
    paths,
    changes,
  }: {
    of: TreeFacts;
    paths: ReadonlySet<BytePath>;
    changes: readonly (readonly [BytePath, { mode: number } | null])[];
  },
): TreeFacts {
  const kept = new Map(modes);
  for (const path of paths) {
    kept.delete(path);
    const mode = of.modes.get(path);
    if (mode !== undefined) kept.set(path, mode);
  }
  const empties = new Set([...empty].filter((folder) => !paths.has(`${folder}/`)));
  for (const folder of of.empty) if (paths.has(`${folder}/`)) empties.add(folder);
  const there = changes.flatMap(([path, entry]) => (entry ? [[path, entry] as const] : []));
  return factsWith({ usual, modes: kept, empty: empties, left }, { of, changes: there });
}

/** The facts of a state to which files of another one are added. */
export function factsWith(
  { usual, modes, empty, left }: TreeFacts,
  { of, changes }: { of: TreeFacts; changes: readonly (readonly [BytePath, { mode: number }])[] },
): TreeFacts {
  const others = new Map(modes);
  const filled = new Set<BytePath>();
  for (const [path, { mode }] of changes) {
    for (const folder of foldersOn(path)) filled.add(folder);
    const own = fileMode(of, path, mode);
    if (mode !== LINK_MODE && own !== fileMode(noFacts(usual), path, mode)) others.set(path, own);
  }
  return { usual, modes: others, empty: new Set([...empty].filter((folder) => !filled.has(folder))), left };
}

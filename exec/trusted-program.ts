// Programs that are run outside of the sandbox: found where nothing that runs inside of it, and no other user, can put
// one of its own. The PATH of a person often begins with a folder of the workspace, such as `./.venv/bin`.
import { lstatSync, readlinkSync, statSync, type Stats } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { findOnPath, isExecutable } from './executable';
import { isWithin } from './sandbox/profile';

/** Where programs are looked for, and the folders (real paths) that code in the sandbox may write. */
export interface Trust {
  path: string | undefined;
  roots: readonly string[];
}

/** `refused`: one is there, and may not be run. */
export type FoundProgram =
  { path: string; refused?: never } | { path?: never; refused: string } | { path?: never; refused?: never };

const WORLD_WRITABLE = 0o002;
const STICKY = 0o1000;
/** As many as Linux follows (path_resolution(7)). */
const MAX_LINKS = 40;
/** Of the system: root's alone, and there on most. */
const SYSTEM_FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/run/current-system/sw/bin'];

/** The first of a name in the absolute folders of the PATH that may be run outside. */
export function findTrusted(name: string, { path, roots }: Trust): FoundProgram {
  let refused: string | undefined;
  for (const folder of absoluteFolders(path)) {
    const program = join(folder, name);
    if (!isExecutable(program)) continue;
    const why = whyUntrusted(program, roots);
    if (why === undefined) return { path: program };
    refused ??= `${program}, ${why}`;
  }
  return refused === undefined ? {} : { refused };
}

/** Of a PATH the folders whose programs may be run outside: what a program starts in turn is looked for there. */
export const trustedPath = ({ path, roots }: Trust): string =>
  absoluteFolders(path)
    .filter((folder) => whyUntrusted(folder, roots) === undefined && !isOpenToAll(folder))
    .join(delimiter);

/** Where no sandbox is known yet: the system's own before any that a PATH names. */
export const systemProgram = (name: string): string =>
  findOnPath(name, SYSTEM_FOLDERS.join(delimiter)) ??
  findOnPath(name, absoluteFolders(process.env.PATH).join(delimiter)) ??
  name;

/**
 * Why others decide what lies at a path; undefined where nobody does. Looks at each folder, link and file on the way:
 * who may change one of them may lead the path elsewhere.
 */
export function whyUntrusted(path: string, roots: readonly string[]): string | undefined {
  for (const place of placesOn(path)) {
    const root = roots.find((one) => isWithin(place.path, one));
    if (root !== undefined) {
      const what = isWithin(path, root) ? 'it' : `${place.path}, on its way,`;
      return `which code in the sandbox can change: ${what} lies in ${root}`;
    }
    if (place.stats && isOthers(place.stats))
      return `which other users can change: ${place.path} is open to them`;
  }
  return undefined;
}

const absoluteFolders = (path: string | undefined): string[] =>
  (path ?? '').split(delimiter).filter((folder) => isAbsolute(folder));

function isOthers(stats: Stats): boolean {
  // In a user namespace root can be an unknown user, who owns the root folder.
  const owners = [0, process.geteuid?.(), statSync('/').uid];
  if (!owners.includes(stats.uid)) return true;
  // The mode of a link means nothing. In a sticky folder only its owner can replace a file.
  return !stats.isSymbolicLink() && (stats.mode & WORLD_WRITABLE) !== 0 && (stats.mode & STICKY) === 0;
}

/** Also one that this user may not look at: nothing in it could be run. */
function isOpenToAll(folder: string): boolean {
  try {
    return (statSync(folder).mode & WORLD_WRITABLE) !== 0;
  } catch {
    return true;
  }
}

interface Place {
  path: string;
  /** Undefined for what is not there, or not to be looked at. */
  stats: Stats | undefined;
}

/** All that the kernel passes on the way to a path, as it does: links are followed one by one. */
export function placesOn(path: string): Place[] {
  const places: Place[] = [];
  let at = '/';
  let left = path.split('/').filter(Boolean);
  for (let links = 0; left.length > 0;) {
    const [name = '', ...rest] = left;
    left = rest;
    at = join(at, name);
    const stats = lookAt(at);
    places.push({ path: at, stats });
    if (!stats) return [...places, { path: join(at, ...left), stats: undefined }];
    if (!stats.isSymbolicLink() || ++links > MAX_LINKS) continue;
    const target = readlinkSync(at);
    left = [...target.split('/').filter(Boolean), ...left];
    at = isAbsolute(target) ? '/' : join(at, '..');
  }
  return places;
}

function lookAt(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}

// Finds programs to run outside of the sandbox where neither code inside it nor another user can put a replacement. A
// person's PATH often begins with a folder of the workspace, such as `./.venv/bin`.
import { lstatSync, readlinkSync, statSync, type Stats } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { findOnPath, isExecutable } from '../system/executable';
import { isWithin } from './real-path';

/** Where to look for programs, and the folders (real paths) that code in the sandbox may write. */
export interface Trust {
  path: string | undefined;
  roots: readonly string[];
}

/** `refused`: one exists, but may not be run. */
export type FoundProgram =
  { path: string; refused?: never } | { path?: never; refused: string } | { path?: never; refused?: never };

const WORLD_WRITABLE = 0o002;
const STICKY = 0o1000;
/** The limit of Linux (path_resolution(7)). */
const MAX_LINKS = 40;
/** System folders: writable by root only, and present on most systems. */
const SYSTEM_FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/run/current-system/sw/bin'];

/** The first program with this name in the absolute folders of the PATH that may be run outside. */
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

/** The folders of a PATH whose programs may be run outside: also the PATH of their child processes. */
export const trustedPath = ({ path, roots }: Trust): string =>
  absoluteFolders(path)
    .filter((folder) => whyUntrusted(folder, roots) === undefined && !isOpenToAll(folder))
    .join(delimiter);

/** For use before a sandbox is known: the system's own program before any that a PATH names. */
export const systemProgram = (name: string): string =>
  findOnPath(name, SYSTEM_FOLDERS.join(delimiter)) ??
  findOnPath(name, absoluteFolders(process.env.PATH).join(delimiter)) ??
  name;

/**
 * Why others control the file at a path; undefined if none do. Checks each folder, link and file on the way: anyone
 * who can change one of them can redirect the path.
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

/** Also true for a folder that this user may not read: nothing in it could be run. */
function isOpenToAll(folder: string): boolean {
  try {
    return (statSync(folder).mode & WORLD_WRITABLE) !== 0;
  } catch {
    return true;
  }
}

interface Place {
  path: string;
  /** Undefined if it does not exist or is inaccessible. */
  stats: Stats | undefined;
}

/** Everything that the kernel visits on the way to a path, following links one by one. */
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

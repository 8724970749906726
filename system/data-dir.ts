// Where Holdfast keeps its state and its cache by default, from the given environment; and whether it can.
import { lstatSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';

/** Names the state folder: HOLDFAST_DATA, else the user's XDG state folder. Absolute; not created here. */
export function defaultDataDir(env: NodeJS.ProcessEnv): string {
  if (env.HOLDFAST_DATA) return resolve(env.HOLDFAST_DATA);
  return join(userFolder(env, env.XDG_STATE_HOME, '.local/state'), 'holdfast');
}

/** Names the cache folder, which may be deleted at any time. Absolute; not created here. */
export function defaultCacheDir(env: NodeJS.ProcessEnv): string {
  return join(userFolder(env, env.XDG_CACHE_HOME, '.cache'), 'holdfast');
}

/** The XDG base directory specification says that relative paths must be ignored. */
function userFolder(env: NodeJS.ProcessEnv, named: string | undefined, fallback: string): string {
  return named && isAbsolute(named) ? named : join(env.HOME || homedir(), fallback);
}

/** What is at the path, or at the nearest of its parents where something is, if it is no folder: a file, a dangling link. */
export function findInTheWay(path: string): string | undefined {
  try {
    if (!lstatSync(path, { throwIfNoEntry: false }))
      return path === dirname(path) ? undefined : findInTheWay(dirname(path));
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ? undefined : path;
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code === 'ENOTDIR') return findInTheWay(dirname(path));
    // It may not be looked at: the first use of the folder says why.
    return undefined;
  }
}

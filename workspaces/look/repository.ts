// The git repository of a folder, found by files alone. Code in the folder may have written any of them: what leads elsewhere
// is followed only as far as the agent may go itself, or where it could not have written the lead.
import { lstatSync, realpathSync, type BigIntStats } from 'node:fs';
import { join, resolve } from 'node:path';
import type { FileReach } from '../../contracts/workspaces/file-reach';
import { readText } from './regular-file';

export interface Repository {
  /** Real path of its git directory, or that of a worktree. */
  gitDir: string;
  /** The git directory that all its worktrees share. */
  common: string;
  /** Whether files may be made in `common` for the agent. */
  mayChange: boolean;
}

/**
 * The repository whose top is this folder. `.git` may be a file that names it (gitrepository-layout(5)); an empty one, as a
 * sandbox covers, is none.
 * @param folder a real path
 * @returns undefined if there is none, or none that the agent may read
 */
export function repositoryIn(folder: string, reach: FileReach): Repository | undefined {
  const path = join(folder, '.git');
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (!stats) return undefined;
  const lead = leadOf(path, stats, folder);
  // A lead that the agent cannot write is its owner's.
  const isOwners = lead === undefined || reach.access(path) !== 'write';
  const gitDir = realOf(lead ?? path);
  if (gitDir === undefined || !lstatSync(join(gitDir, 'HEAD'), { throwIfNoEntry: false })) return undefined;
  const named = readText(join(gitDir, 'commondir'))?.trim();
  const common = named === undefined ? gitDir : realOf(resolve(gitDir, named));
  const isCommonOwners =
    isOwners && (named === undefined || reach.access(join(gitDir, 'commondir')) !== 'write');
  if (common === undefined) return undefined;
  const isReadable =
    (isOwners || reach.access(gitDir) !== 'none') && (isCommonOwners || reach.access(common) !== 'none');
  if (!isReadable) return undefined;
  return { gitDir, common, mayChange: isCommonOwners || reach.access(common) === 'write' };
}

/** Where a `.git` that is no folder leads; undefined: it is the git directory itself. */
function leadOf(path: string, stats: BigIntStats, folder: string): string | undefined {
  if (stats.isSymbolicLink()) return path;
  if (!stats.isFile()) return undefined;
  const named = /^gitdir: (.+)/.exec(readText(path) ?? '')?.[1];
  return named === undefined ? path : resolve(folder, named);
}

/** Undefined if it is not there. */
function realOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch (err) {
    const { code } = err as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw err;
  }
}

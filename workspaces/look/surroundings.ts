// Where a workspace lies: the repository around it, whose ignore rules count. Reads only text of that repository.
import { lstatSync, realpathSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { FileReach } from '../../contracts/workspaces/file-reach';
import { bytePath, type BytePath } from '../byte-path';
import { readText } from './regular-file';
import { repositoryIn } from './repository';

export interface Surroundings {
  /** Real path of the workspace. */
  root: string;
  /** Top folder of the repository; without one the workspace itself. */
  top: string;
  /** '' or what paths of the workspace begin with below the top, with a slash at the end. */
  prefix: BytePath;
  /** The git directory of the repository. */
  gitDir: string | undefined;
  /** What its `info/exclude` says. */
  exclude: string;
  /** Its index, and which state of it this is; undefined if it has none. */
  index: { path: string; stamp: string } | undefined;
}

/** The surroundings of a folder in no repository, or in one that says nothing of it. */
export const withoutRepository = (root: string): Surroundings => ({
  root,
  top: root,
  prefix: '',
  gitDir: undefined,
  exclude: '',
  index: undefined,
});

/** Throws ENOENT or ENOTDIR if the workspace is not there. */
export function surroundingsOf(cwd: string, reach: FileReach): Surroundings {
  const root = realpathSync(cwd);
  for (let top = root; ; top = dirname(top)) {
    const repository = repositoryIn(top, reach);
    if (repository) {
      const below = bytePath(relative(top, root));
      const { gitDir, common } = repository;
      const exclude = readText(join(common, 'info', 'exclude')) ?? '';
      return { root, top, prefix: below && `${below}/`, gitDir, exclude, index: indexIn(gitDir) };
    }
    if (dirname(top) === top) return withoutRepository(root);
  }
}

function indexIn(gitDir: string): Surroundings['index'] {
  const path = join(gitDir, 'index');
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stats?.isFile() ? { path, stamp: `${stats.ino}.${stats.size}.${stats.ctimeNs}` } : undefined;
}

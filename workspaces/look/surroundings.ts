// Where a workspace lies: the repository around it, whose ignore rules count. Reads only text of that repository.
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { bytePath, type BytePath } from '../byte-path';

const MAX_TEXT_BYTES = 1_048_576;

export interface Surroundings {
  /** Real path of the workspace. */
  root: string;
  /** Top folder of the repository; without one the workspace itself. */
  top: string;
  /** '' or what paths of the workspace begin with below the top, with a slash at the end. */
  prefix: BytePath;
  /** Of the repository. */
  gitDir: string | undefined;
  /** What its `info/exclude` says. */
  exclude: string;
  /** Its index, and which state of it this is; undefined if it has none. */
  index: { path: string; stamp: string } | undefined;
}

/** Of a folder in no repository, or in one that says nothing of it. */
export const withoutRepository = (root: string): Surroundings => ({
  root,
  top: root,
  prefix: '',
  gitDir: undefined,
  exclude: '',
  index: undefined,
});

/** Throws ENOENT or ENOTDIR if the workspace is not there. */
export function surroundingsOf(cwd: string): Surroundings {
  const root = realpathSync(cwd);
  for (let top = root; ; top = dirname(top)) {
    const gitDir = gitDirIn(top);
    if (gitDir !== undefined) {
      const below = bytePath(relative(top, root));
      const common = readText(join(gitDir, 'commondir'))?.trim();
      const exclude = readText(join(resolve(gitDir, common ?? '.'), 'info', 'exclude')) ?? '';
      return { root, top, prefix: below && `${below}/`, gitDir, exclude, index: indexIn(gitDir) };
    }
    if (dirname(top) === top) return withoutRepository(root);
  }
}

/**
 * The git directory of the repository whose top is this folder, told by files alone. `.git` may be a file that names it
 * (gitrepository-layout(5)); an empty one, as a sandbox covers, is none.
 */
export function gitDirIn(folder: string): string | undefined {
  const path = join(folder, '.git');
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) return undefined;
  const named = stats.isFile() ? /^gitdir: (.+)/.exec(readText(path) ?? '')?.[1] : undefined;
  const gitDir = named === undefined ? path : resolve(folder, named);
  return lstatSync(join(gitDir, 'HEAD'), { throwIfNoEntry: false }) ? gitDir : undefined;
}

function indexIn(gitDir: string): Surroundings['index'] {
  const path = join(gitDir, 'index');
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stats?.isFile() ? { path, stamp: `${stats.ino}.${stats.size}.${stats.ctimeNs}` } : undefined;
}

/** The text of a regular file of bounded size: anything may lie in a workspace, a pipe for instance. */
export function readText(path: string): string | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = fstatSync(fd);
    return stats.isFile() && stats.size <= MAX_TEXT_BYTES ? readFileSync(fd, 'utf8') : undefined;
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

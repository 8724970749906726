// A workspace that the repository around it ignores, such as `build/`: its rules hide all files there, so they say nothing of
// which files count.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GitFailure, type Git } from '../git/git-run';
import { ignoredPaths } from '../git/ignored-paths';
import { isTimeout } from '../git/store';
import { withoutRepository, type Surroundings } from './surroundings';

const LOOK_MS = 5_000;

/** The same surroundings, or none if they ignore the workspace's own folder. */
export async function unlessIgnored(git: Git, around: Surroundings, scratch: string): Promise<Surroundings> {
  const { root, top, prefix, exclude } = around;
  if (prefix === '') return around;
  const excludes = join(scratch, 'exclude-above');
  mkdirSync(scratch, { recursive: true, mode: 0o700 });
  writeFileSync(excludes, exclude, { mode: 0o600 });
  try {
    const where = { workTree: top, index: join(scratch, 'no-index'), cwd: top };
    const rules = { ...where, excludeFile: excludes, signal: AbortSignal.timeout(LOOK_MS) };
    const isIgnored = (await ignoredPaths(git, [prefix], rules)).has(prefix);
    return isIgnored ? withoutRepository(root) : around;
  } catch (err) {
    // The look at the files themselves meets the same, and says so.
    if (err instanceof GitFailure || isTimeout(err)) return around;
    throw err;
  }
}

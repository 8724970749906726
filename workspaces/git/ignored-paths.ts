// Which paths git's ignore rules hide, as check-ignore reports it.
import { fromBytes, toBytes, type BytePath } from '../byte-path';
import type { Git } from './git-run';

export interface IgnoreRules {
  /** Whose `.gitignore` files count. */
  workTree: string;
  index: string;
  cwd: string;
  /** Further patterns. */
  excludeFile: string;
  signal?: AbortSignal;
}

/** Those that are ignored of the given paths, which are relative to `cwd`; that of a folder ends with a slash. */
export async function ignoredPaths(
  git: Git,
  paths: readonly BytePath[],
  { workTree, index, cwd, excludeFile, signal }: IgnoreRules,
): Promise<Set<BytePath>> {
  const output = await git.run(['check-ignore', '-z', '--stdin', '--no-index'], {
    look: { workTree, index, cwd },
    settings: [`core.excludesFile=${excludeFile}`],
    input: toBytes(paths.map((path) => `./${path}\0`).join('')),
    // None is ignored.
    allowed: [1],
    ...(signal && { signal }),
  });
  const named = fromBytes(output).split('\0').slice(0, -1);
  return new Set(named.map((path) => path.slice('./'.length)));
}

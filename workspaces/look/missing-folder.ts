// A workspace whose folder somebody has removed: where it was, and what stands in for it while nothing may be changed.
import { lstatSync, mkdirSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { withoutRepository, type Surroundings } from './surroundings';

/** The real path of a folder that is not there; undefined if something is. Throws ENOENT if the one above is not, either. */
export function missingRoot(cwd: string): string | undefined {
  if (lstatSync(cwd, { throwIfNoEntry: false })) return undefined;
  const path = resolve(cwd);
  return join(realpathSync(dirname(path)), basename(path));
}

/** An empty folder of our own, to look at instead. */
export function standIn(folder: string): Surroundings {
  const root = join(folder, 'nothing');
  mkdirSync(root, { recursive: true, mode: 0o700 });
  return withoutRepository(root);
}

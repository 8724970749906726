// Where paths lead, and what lies in what.
import { realpathSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';

/** Whether `path` is `folder` or inside it. */
export function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith('../'));
}

/** A path with its links resolved, as far as it exists. */
export function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : resolve(real(parent), relative(parent, path));
  }
}

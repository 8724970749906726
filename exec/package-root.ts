// Where the package lies: the shell scripts and runners are plain files and not compiled.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The nearest folder above this file with a package.json: the same for sources and for `dist`. */
export function packageRoot(): string {
  let folder = __dirname;
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return folder;
}

export const shellAsset = (name: string): string => join(packageRoot(), 'exec', 'shell', name);
/** A compiled entry point, for starting it as a process of its own. */
export const compiledEntry = (path: string): string => join(packageRoot(), 'dist', path);

export const packageVersion = (): string =>
  (JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as { version: string }).version;

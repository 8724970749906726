// Where the package is installed: the shell scripts and runners are plain files, not compiled.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The nearest parent folder of this file with a package.json: the same for sources and for `dist`. */
export function packageRoot(): string {
  let folder = __dirname;
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return folder;
}

export const shellAsset = (name: string): string => join(packageRoot(), 'exec', 'shell', name);
/** A compiled entry point, to start as a separate process. */
export const compiledEntry = (path: string): string => join(packageRoot(), 'dist', path);

/** Which release runs, and from where. */
export interface Release {
  version: string;
  folder: string;
}

export const packageVersion = (): string =>
  (JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as { version: string }).version;

export const ownRelease = (): Release => ({ version: packageVersion(), folder: packageRoot() });

/** Whether something was started by this release, from this folder. */
export function isOwnRelease(release: Release | undefined): boolean {
  const { version, folder } = ownRelease();
  return release?.version === version && release.folder === folder;
}

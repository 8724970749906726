// Where the package is installed: the shell scripts and runners are plain files, not compiled.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

function rootOf(folder: string): string | undefined {
  if (existsSync(join(folder, 'package.json'))) return folder;
  const parent = dirname(folder);
  return parent === folder ? undefined : rootOf(parent);
}

/** Found once: a holder outlives updates, and while one is under way its package is not there. */
const ROOT = rootOf(__dirname);

/** The nearest parent folder of this file with a package.json: the same for sources and for `dist`. */
export function packageRoot(): string {
  if (ROOT === undefined) throw new Error(`no package.json in ${__dirname} or above it`);
  return ROOT;
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
export function isOwnRelease(release: Release): boolean {
  const { version, folder } = ownRelease();
  return release.version === version && release.folder === folder;
}

// The release before this one, as users have it: built once from its commit into the cache of Holdfast.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { defaultCacheDir } from '../../../system/data-dir';
import { withLock } from '../../../system/lock';
import { packageRoot } from '../../../system/package-root';
import { PREVIOUS_COMMIT } from './previous-commit';

const FOLDER = join(defaultCacheDir(process.env), 'releases', PREVIOUS_COMMIT.slice(0, 12));

export const previousBin = join(FOLDER, 'bin', 'holdfast.js');

/** Takes a minute or two the first time. Throws what the build said. */
export async function buildPrevious(): Promise<void> {
  if (existsSync(FOLDER)) return;
  mkdirSync(join(FOLDER, '..'), { recursive: true });
  await withLock(`${FOLDER}.lock`, () => {
    if (existsSync(FOLDER)) return Promise.resolve();
    const partial = `${FOLDER}.partial`;
    rmSync(partial, { recursive: true, force: true });
    mkdirSync(partial);
    const archive = git('archive', '--format=tar', PREVIOUS_COMMIT);
    execFileSync('tar', ['-x', '-C', partial], { input: archive });
    install(partial);
    renameSync(partial, FOLDER);
    return Promise.resolve();
  });
}

/** With the same dependencies as now, those that are installed here will do. */
function install(folder: string): void {
  const run = (program: string, ...args: string[]): unknown =>
    execFileSync(program, args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  const lock = 'package-lock.json';
  const own = packageRoot();
  if (!readFileSync(join(own, lock)).equals(readFileSync(join(folder, lock)))) {
    // Builds it, too.
    run('npm', 'ci', '--prefer-offline', '--no-audit', '--no-fund');
    return;
  }
  copyModules(join(own, 'node_modules'), folder);
  run(process.execPath, join('scripts', 'build.js'));
}

/** As links, where both folders are on one file system. */
function copyModules(from: string, to: string): void {
  try {
    execFileSync('cp', ['-al', from, to], { stdio: 'ignore' });
  } catch {
    execFileSync('cp', ['-a', from, to], { stdio: 'ignore' });
  }
}

const git = (...args: string[]): Buffer =>
  execFileSync('git', args, { cwd: packageRoot(), maxBuffer: 2 ** 28, stdio: ['ignore', 'pipe', 'ignore'] });

export const isPreviousBuilt = (): boolean => existsSync(FOLDER);

/** Why there is none here; undefined if there is one, or if it can be built. */
export function noPrevious(): string | undefined {
  if (existsSync(FOLDER)) return undefined;
  try {
    git('cat-file', '-e', `${PREVIOUS_COMMIT}^{commit}`);
    return undefined;
  } catch {
    return `the commit of the previous release is not in this clone: git fetch origin ${PREVIOUS_COMMIT}`;
  }
}

// Finds the executable of the Temporal development server, or gets one: from the machine, our cache, the vendor's
// download, or a build from source. The cache holds only complete executables.
import { mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import { buildServer } from './build';
import { downloadServer, type ObtainOptions } from './download';
import { findOnPath, isExecutable } from '../../system/executable';
import { serverVersionOf } from './cli-version';
import { withLock } from '../../system/lock';
import { makeFolder } from '../../system/make-folder';
import { TEMPORAL_CLI_VERSION } from './pinned';

/** An executable that runs `temporal server start-dev`. */
export interface ServerBinary {
  path: string;
  source: 'env' | 'path' | 'cache' | 'download' | 'build';
  /** Version of the server inside, for example "1.31.2". */
  version: string;
}

/** Where to look and how to report it; `signal` aborts waiting, download and build. */
export interface LocateOptions extends ObtainOptions {
  cacheDir: string;
}

/** Reasons of failed ways, for the error that lists them all. */
type Failures = string[];

/** Another release holds another lock, and may be filling the same cache with its own version. */
const PARTIAL = `partial-${TEMPORAL_CLI_VERSION}-`;

/**
 * Finds or gets the server. If none is usable, throws `engine_missing`, which lists each way and why it failed. Throws
 * at once if HOLDFAST_TEMPORAL_CLI names an unusable file: another one is not what the user wanted.
 */
export async function locateServerBinary(options: LocateOptions): Promise<ServerBinary> {
  const failures: Failures = [];
  const found = await find(options, failures);
  return found ?? (await obtainOnce(options, failures)) ?? missing(failures);
}

/** Finds an existing one, without download or build. Throws like `locateServerBinary` for a named file. */
export function findServerBinary(
  where: Pick<LocateOptions, 'env' | 'cacheDir'>,
): Promise<ServerBinary | undefined> {
  return find(where, []);
}

async function find(
  { env, cacheDir }: Pick<LocateOptions, 'env' | 'cacheDir'>,
  failures: Failures,
): Promise<ServerBinary | undefined> {
  if (env.HOLDFAST_TEMPORAL_CLI) {
    const named = await tryBinary(
      'env',
      'HOLDFAST_TEMPORAL_CLI',
      resolve(env.HOLDFAST_TEMPORAL_CLI),
      failures,
    );
    return named ?? missing(failures);
  }
  const onPath = findOnPath('temporal', env.PATH);
  if (onPath === undefined) failures.push('PATH: no `temporal` on it');
  return (onPath && (await tryBinary('path', 'PATH', onPath, failures))) || fromCache(cacheDir, failures);
}

function missing(failures: Failures): never {
  throw new HoldfastError('engine_missing', { reason: `${failures.join('; ')}.` });
}

async function tryBinary(
  source: ServerBinary['source'],
  way: string,
  path: string,
  failures: Failures,
): Promise<ServerBinary | undefined> {
  try {
    return { path, source, version: await serverVersionOf(path) };
  } catch (err) {
    failures.push(`${way}: ${reasonOf(err)}`);
    return undefined;
  }
}

const cachedPath = (cacheDir: string): string =>
  join(cacheDir, `temporal-${TEMPORAL_CLI_VERSION}`, 'temporal');

async function fromCache(cacheDir: string, failures: Failures): Promise<ServerBinary | undefined> {
  const path = cachedPath(cacheDir);
  if (isExecutable(path)) return tryBinary('cache', 'cache', path, failures);
  failures.push(`cache: no ${path}`);
  return undefined;
}

/** One process gets the server; others that waited find it in the cache. */
async function obtainOnce(options: LocateOptions, failures: Failures): Promise<ServerBinary | undefined> {
  const { cacheDir, signal, progress } = options;
  try {
    return await withLock(
      join(cacheDir, `temporal-${TEMPORAL_CLI_VERSION}.lock`),
      async () => (await fromCache(cacheDir, [])) ?? (await obtain(options, failures)),
      { signal, onWait: () => progress('Another process is getting the Temporal server; waiting.') },
    );
  } catch (err) {
    signal?.throwIfAborted();
    failures.push(`cache: ${reasonOf(err)}`);
    return undefined;
  }
}

/** Called under the lock. Tries the ways that fill the cache. */
async function obtain(options: LocateOptions, failures: Failures): Promise<ServerBinary | undefined> {
  sweepPartials(options.cacheDir);
  if (options.env.HOLDFAST_NO_DOWNLOAD && options.env.HOLDFAST_NO_DOWNLOAD !== '0') {
    failures.push('download: disabled by HOLDFAST_NO_DOWNLOAD');
  } else {
    const downloaded = await fillCache('download', downloadServer, options, failures);
    if (downloaded) return downloaded;
  }
  return fillCache('build', buildServer, options, failures);
}

/** Obtains it in a folder beside the cache's, checks the result, and renames it into place. */
async function fillCache(
  source: 'download' | 'build',
  into: (folder: string, options: ObtainOptions) => Promise<string>,
  options: LocateOptions,
  failures: Failures,
): Promise<ServerBinary | undefined> {
  const folder = mkdtempSync(join(options.cacheDir, PARTIAL));
  try {
    const partial = await into(folder, options);
    const version = await serverVersionOf(partial);
    const path = cachedPath(options.cacheDir);
    makeFolder(dirname(path));
    renameSync(partial, path);
    options.progress(`The Temporal server ${version} is now in the cache.`);
    return { path, source, version };
  } catch (err) {
    options.signal?.throwIfAborted();
    failures.push(`${source}: ${reasonOf(err)}`);
    options.progress(`Could not get the Temporal server by ${source}: ${reasonOf(err)}`);
    return undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Under the lock no other process fills the cache: partial folders belong to killed processes. */
function sweepPartials(cacheDir: string): void {
  for (const name of readdirSync(cacheDir)) {
    if (name.startsWith(PARTIAL))
      rmSync(join(cacheDir, name), { recursive: true, force: true, maxRetries: 5 });
  }
}

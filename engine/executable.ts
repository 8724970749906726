// Finds executables and asks a Temporal CLI which server it carries.
import { execFile } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { OLDEST_SERVER_VERSION } from './pinned';

/** A cold start from a slow disk reads more than 100 MB. */
const VERSION_TIMEOUT_MS = 30_000;

/** Finds a program by name in the folders of a PATH. */
export function findOnPath(name: string, path: string | undefined): string | undefined {
  return (path ?? '')
    .split(delimiter)
    .filter(Boolean)
    .map((folder) => join(folder, name))
    .find(isExecutable);
}

/** True for a regular file that this user may execute. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/**
 * Runs `temporal --version` and returns the version of the server inside, for example "1.31.2". Throws an Error
 * that says why the file cannot be used. (The CLI's own version is no help: a build from source says 0.0.0-DEV.)
 */
export async function serverVersionOf(path: string): Promise<string> {
  if (!isExecutable(path)) throw new Error(`${path} is not an executable file`);
  const { stdout } = await promisify(execFile)(path, ['--version'], { timeout: VERSION_TIMEOUT_MS });
  const version = /\(Server (\d+\.\d+\.\d+)/.exec(stdout)?.[1];
  if (version === undefined)
    throw new Error(`${path} is not a Temporal CLI: it says ${JSON.stringify(stdout.trim())}`);
  if (version.localeCompare(OLDEST_SERVER_VERSION, 'en', { numeric: true }) < 0) {
    throw new Error(`${path} carries server ${version}, allowed ${OLDEST_SERVER_VERSION} or newer`);
  }
  return version;
}

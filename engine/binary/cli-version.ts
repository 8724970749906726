// Asks a Temporal CLI which server version it contains.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { isExecutable } from '../../system/executable';
import { OLDEST_SERVER_VERSION } from './pinned';

/** A cold start from a slow disk reads more than 100 MB. */
const VERSION_TIMEOUT_MS = 30_000;

/**
 * Runs `temporal --version` and returns the version of the server inside, for example "1.31.2". Throws an Error
 * that says why the file cannot be used. (The CLI's own version is no help: a build from source says 0.0.0-DEV.)
 */
export async function serverVersionOf(path: string): Promise<string> {
  if (!isExecutable(path)) throw new Error(`${path} is not an executable file`);
  const { stdout } = await promisify(execFile)(path, ['--version'], { timeout: VERSION_TIMEOUT_MS });
  const version = /\(Server (\d+\.\d+\.\d+)/.exec(stdout)?.[1];
  if (version === undefined)
    throw new Error(`${path} is not a Temporal CLI: it prints ${JSON.stringify(stdout.trim())}`);
  if (version.localeCompare(OLDEST_SERVER_VERSION, 'en', { numeric: true }) < 0) {
    throw new Error(`${path} contains server ${version}, allowed ${OLDEST_SERVER_VERSION} or newer`);
  }
  return version;
}

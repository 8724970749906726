// Where shells begin: checked before one is opened, because a terminal that fails later gives a worse error.
import { accessSync, constants, statSync } from 'node:fs';
import { join } from 'node:path';
import { HoldfastError } from '../contracts/errors/holdfast-error';
import { isAbsolutePath } from '../contracts/ids';
import { real } from './real-path';

/** Default working folder. */
export const usualWorkingFolder = (dataDir: string): string => join(dataDir, 'work');

/** Where the shells of a worker process begin: as its command line or HOLDFAST_WORKDIR says. */
export const wantedWorkingFolder = (
  dataDir: string,
  given: string | undefined,
  env: NodeJS.ProcessEnv,
): string => given ?? env.HOLDFAST_WORKDIR ?? usualWorkingFolder(dataDir);

/** Throws `no_working_folder` if no process of this user can have `folder` as its working folder. */
export function checkWorkingFolder(folder: string): void {
  const fault = faultOf(absoluteFolder(folder));
  if (fault) throw new HoldfastError('no_working_folder', { got: folder, reason: fault });
}

/** The folder itself. Throws `no_working_folder` for a relative path: it would be one of the process that looks. */
export function absoluteFolder(folder: string): string {
  if (!isAbsolutePath(folder))
    throw new HoldfastError('no_working_folder', { got: folder, reason: 'is not an absolute path' });
  return folder;
}

/**
 * Where a path leads now, as it is approved: a link may lead elsewhere afterwards. What is not there stays as it is. Throws
 * like `absoluteFolder`.
 */
export const resolvedFolder = (folder: string): string => real(absoluteFolder(folder));

function faultOf(folder: string): string | undefined {
  try {
    if (!statSync(folder).isDirectory()) return 'is not a folder';
    accessSync(folder, constants.X_OK);
    return undefined;
  } catch (err) {
    const { code } = err as NodeJS.ErrnoException;
    return code === 'ENOENT' ? 'does not exist' : `cannot be entered (${code})`;
  }
}

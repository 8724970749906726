// Where shells begin: checked before one is opened, because a terminal that fails later says less.
import { accessSync, constants, statSync } from 'node:fs';
import { join } from 'node:path';
import { HoldfastError } from '../contracts/errors';

/** Where nobody names one. */
export const usualWorkingFolder = (dataDir: string): string => join(dataDir, 'work');

/** Throws `terminal_failed` where no process of this user can have `folder` as its working folder. */
export function checkWorkingFolder(folder: string): void {
  const fault = faultOf(folder);
  if (fault) throw new HoldfastError('terminal_failed', { reason: `the working folder ${folder} ${fault}` });
}

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

// Where on the PATH a program lies.
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

export function findProgram(name: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(':').filter((folder) => folder.startsWith('/'));
  return folders.map((folder) => join(folder, name)).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

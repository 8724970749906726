// Where a program lies that makes a sandbox: in no folder that depends on where this process happens to be.
import { delimiter, isAbsolute } from 'node:path';
import { findOnPath } from '../executable';

export function findProgram(name: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(isAbsolute);
  return findOnPath(name, folders.join(delimiter));
}

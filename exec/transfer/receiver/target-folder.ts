// Where an entry goes: into the folder that was named, or beside it under the name that was given.
import type { Entry, Name } from '../transfer-messages';
import { split } from '../names';
import { OpenFolder } from '../open-folder';
import { missingFolder } from '../transfer-errors';

export interface Target {
  folder: OpenFolder;
  /** Null: the folder itself. */
  name: Name | null;
  /** In the folder that was named. */
  isInside: boolean;
}

/**
 * @param name the entry's own; null for the content of a folder
 * Throws `not_found`, and file system errors.
 */
export function targetFor(target: Name, name: Name | null, kind: Entry['kind']): Target {
  try {
    return { folder: OpenFolder.at(target), name, isInside: true };
  } catch (err) {
    const { code } = err as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw err;
    const own = split(target);
    if (own.name === '.' || (kind === 'file' && target.endsWith('/'))) throw missingFolder(target);
    try {
      return { folder: OpenFolder.at(own.folder), name: own.name, isInside: false };
    } catch (above) {
      throw (above as NodeJS.ErrnoException).code === 'ENOENT' ? missingFolder(own.folder) : above;
    }
  }
}

// Where an entry goes: into the folder that was named, or beside it under the name that was given.
import { lstatSync, realpathSync } from 'node:fs';
import type { Entry, Name } from '../transfer-messages';
import { split } from '../names';
import { bytesOf, nameOf, OpenFolder } from '../open-folder';
import { linkToNothing, missingFolder } from '../transfer-errors';

export interface Target {
  folder: OpenFolder;
  /** Null: the folder itself. */
  name: Name | null;
  /** In the folder that was named. */
  isInside: boolean;
}

/**
 * A link to a file that was named leads to the file, as with `cp`; one to a folder leads into it.
 * @param name the entry's own; null for the content of a folder
 * Throws `not_found`, `file_failed` for a link that leads nowhere, and file system errors.
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
      const named = kind === 'file' ? followed(target) : own;
      return { folder: OpenFolder.at(named.folder), name: named.name, isInside: false };
    } catch (above) {
      throw (above as NodeJS.ErrnoException).code === 'ENOENT' ? missingFolder(own.folder) : above;
    }
  }
}

/** What is renamed to the name of a link would replace the link. */
function followed(target: Name): ReturnType<typeof split> {
  if (!lstatSync(bytesOf(target), { throwIfNoEntry: false })?.isSymbolicLink()) return split(target);
  try {
    return split(nameOf(realpathSync.native(bytesOf(target), { encoding: 'buffer' })));
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code !== 'ENOENT') throw err;
    throw linkToNothing(target);
  }
}

// What a file system says, as errors of the catalogue.
import type { BigIntStats } from 'node:fs';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import { asStorageFailure } from '../../system/storage-failure';
import type { Name, SentError } from './transfer-messages';
import { shown } from './names';

/** Errors that meet every further file, too. */
const OF_THE_DISK = /ENOSPC|EDQUOT|EIO|EMFILE|ENFILE|ENOMEM/;

const IN_THE_WAY: Readonly<Record<string, string>> = {
  EISDIR: 'a folder has this name',
  ENOTDIR: 'something that is no folder, or a link, has this name',
  ELOOP: 'it is a link, and links are not followed',
  EEXIST: 'something has this name',
  ENOTEMPTY: 'a folder has this name',
  EROFS: 'it is read-only there, as outside of the writable folders of a sandbox',
  ENXIO: 'it is a socket or a pipe',
};

/** What a transfer has written of a file has no name any more. */
export class PartLost extends Error {}

/** `not_found`, `storage_failed` for the whole disk, `file_failed` for one file; others unchanged. */
export function fileErrorOf(err: unknown, action: string, path: Name): HoldfastError {
  if (err instanceof HoldfastError) return err;
  if (err instanceof PartLost)
    return new HoldfastError('file_failed', {
      ...{ got: shown(path), action },
      reason:
        'its `.holdfast-*.part` was removed, or another transfer took it over while this one stood still',
      next: 'Look whether the file is there; if not, copy it again.',
    });
  const { code = '', syscall } = (err ?? {}) as Partial<NodeJS.ErrnoException>;
  if (syscall === undefined) return new HoldfastError('internal', { reason: reasonOf(err) });
  if (OF_THE_DISK.test(code)) {
    const failure = asStorageFailure(err, `${shown(path)} was not ${action}`);
    if (failure instanceof HoldfastError) return failure.withFacts({ again: 'copy it again' });
  }
  if (code === 'ENOENT')
    return new HoldfastError('not_found', {
      what: 'The file or folder',
      got: shown(path),
      next: 'Relative paths begin in the folder of the agent on its host: `holdfast exec --agent AGENT ls` shows it.',
    });
  // The message names a path in /proc.
  const reason = IN_THE_WAY[code] ?? `${code}: ${plain(err)}`;
  return new HoldfastError('file_failed', { got: shown(path), action, reason });
}

export const endsAll = ({ code }: HoldfastError): boolean =>
  code === 'storage_failed' || code === 'resources_exhausted';

export const sentError = ({ code, facts }: HoldfastError): SentError => ({ code, facts });

const plain = (err: unknown): string =>
  reasonOf(err)
    .replace(/^\w+: /, '')
    .replace(/, .*$/s, '');

export const unexpected = (what: string): HoldfastError =>
  new HoldfastError('invalid_input', {
    what: 'What the other side of the transfer sent',
    got: what,
    allowed: 'what this release sends',
    next: 'Install the same release of Holdfast on both machines.',
  });

export const tooDeep = (path: Name, most: number): HoldfastError =>
  new HoldfastError('file_failed', {
    got: shown(path),
    action: 'written',
    reason: `it lies deeper than ${most} folders`,
  });

export const inTheWay = (path: Name): HoldfastError =>
  new HoldfastError('file_failed', { got: shown(path), action: 'written', reason: 'a folder has this name' });

/** What a copy must not replace: a reader of a pipe would wait for ever, and a device is the system's. */
export function checkReplaceable(path: Name, there: BigIntStats | undefined): void {
  if (!there || there.isFile() || there.isSymbolicLink()) return;
  if (there.isDirectory()) throw inTheWay(path);
  throw new HoldfastError('file_failed', {
    ...{ got: shown(path), action: 'written' },
    reason: `${kindOf(there)} has this name, and is not replaced`,
    next: 'Use another path, or remove it first. To write into it: `holdfast cp AGENT:FILE -` prints a file.',
  });
}

export const kindOf = (stats: BigIntStats): string => {
  if (stats.isDirectory()) return 'a folder';
  if (stats.isSocket()) return 'a socket';
  return stats.isFIFO() ? 'a named pipe' : 'a device';
};

export const linkToNothing = (path: Name): HoldfastError =>
  new HoldfastError('file_failed', {
    ...{ got: shown(path), action: 'written' },
    reason: 'it is a link to a file that does not exist',
    next: 'Name the file, or remove the link first.',
  });

export const notAFile = (path: Name, kind: string): HoldfastError =>
  new HoldfastError('invalid_input', {
    what: 'The file',
    got: `${shown(path)}, ${kind}`,
    allowed: 'a regular file',
    next:
      kind === 'a folder'
        ? 'Name a file in it; `holdfast cp` copies folders.'
        : 'Have a program read it, and copy what that prints: `PROGRAM | holdfast cp - AGENT:PATH`.',
  });

export const missingFolder = (path: Name): HoldfastError =>
  new HoldfastError('not_found', {
    what: 'The folder',
    got: shown(path.replace(/\/\.$/, '')),
    next: 'Make it first, or name another one.',
  });

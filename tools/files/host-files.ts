// How tools name and open host files, and the errors when that fails.
import { constants, type Stats } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import * as z from 'zod/mini';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import type { ToolHost } from '../tool';

const withoutNul = z.refine<string>((text) => !text.includes('\0'), {
  error: 'holds a NUL character, allowed text without NUL',
});

/** Instead of half a character Node writes U+FFFD: the name of another file, or another content. */
const isWhole = (text: string): boolean => !/\p{Surrogate}/u.test(text);
export const withoutHalves = z.refine<string>(isWhole, {
  error: 'holds half a character, allowed whole ones; a name that is not UTF-8 works in a command of a shell',
});

/** Text that programs and the file system accept, described for the caller. */
export const plainText = (description: string): z.ZodMiniString =>
  z.string().check(withoutNul, withoutHalves, z.describe(description));
export const pathText = (description: string): z.ZodMiniString =>
  z.string().check(z.minLength(1), withoutNul, withoutHalves, z.describe(description));
export const wholeNumber = (from: number, to: number, description: string): z.ZodMiniNumberFormat =>
  z.int().check(z.gte(from), z.lte(to), z.describe(description));

/**
 * Resolves a caller's path: relative ones start from the host's working folder, and `~` is the home folder, as in a shell.
 * Throws `invalid_input`, with what else the tool can do.
 */
export function onHost(
  host: ToolHost,
  path: string,
  otherwise = 'Name the file by an absolute path, or call from another folder.',
): string {
  const full = resolve(host.cwd, isAtHome(path) ? join(homeOf(host, path), path.slice(1)) : path);
  if (isWhole(full)) return full;
  throw new HoldfastError('invalid_input', {
    what: 'The working folder',
    got: JSON.stringify(host.cwd),
    allowed: 'one whose path is UTF-8',
    next: otherwise,
  });
}

/** Whether a shell would read it as the home folder or below. A file whose name begins with `~` is named as it is. */
export const isAtHome = (path: string): boolean => path === '~' || path.startsWith('~/');

function homeOf({ env }: ToolHost, path: string): string {
  const home = env.HOME ?? '';
  if (isAbsolute(home)) return home;
  throw new HoldfastError('invalid_input', {
    what: 'The path',
    got: `${path}, but the host has no HOME`,
    allowed: 'an absolute path, or one from the working folder',
    next: 'Write the home folder as an absolute path; a folder that is really called ~ is "./~".',
  });
}

/** The catalogue's error for a file system error: `not_found`, `file_failed`; others unchanged. */
export function fileError(err: unknown, action: string, path: string, next?: string): unknown {
  const { code, syscall } = (err ?? {}) as Partial<NodeJS.ErrnoException>;
  if (code === undefined || syscall === undefined) return err;
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return new HoldfastError('not_found', {
      what: action === 'listed' ? 'The folder' : 'The file',
      got: path,
      next: next ?? 'List the folder with list_dir; relative paths start from the working folder.',
    });
  return new HoldfastError('file_failed', { got: path, action, reason: reasonOf(err) });
}

export const kindOf = (stats: Stats): string => {
  if (stats.isDirectory()) return 'a folder';
  if (stats.isFIFO()) return 'a named pipe';
  if (stats.isSocket()) return 'a socket';
  return stats.isFile() ? 'a file' : 'a device';
};

/** The largest file that is read whole. */
export const MAX_TEXT_BYTES = 10 * 1024 * 1024;

/**
 * Opens a regular file to read. Anything else is refused without waiting: pipes and devices may have no end. `flags`: more
 * of open(2).
 */
export async function openRegular(path: string, flags = 0): Promise<{ file: FileHandle; stats: Stats }> {
  let file: FileHandle;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | flags);
  } catch (err) {
    // How Linux refuses to open a socket.
    if ((err as NodeJS.ErrnoException).code === 'ENXIO') throw notRegular(path, 'a socket');
    throw fileError(err, 'read', path);
  }
  const stats = await file.stat();
  if (stats.isFile()) return { file, stats };
  await file.close();
  throw notRegular(path, kindOf(stats));
}

export const notRegular = (path: string, kind: string): HoldfastError =>
  new HoldfastError('invalid_input', {
    what: 'The file',
    got: `${path}, ${kind}`,
    allowed: 'a regular file',
    next: kind === 'a folder' ? 'List it with list_dir.' : 'Name another file.',
  });

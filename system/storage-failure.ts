// Distinguishes refusals by the system (a full or read-only disk, forbidden files, no file descriptors left) from other faults:
// they pass or the operator can fix them, and the error says so.
import { HoldfastError, reasonOf as textOf } from '../contracts/errors/holdfast-error';

/** In plain words, by errno(3). */
const OF_THE_DISK: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file has reached its maximum size',
  EIO: 'the disk reports an I/O error',
  EROFS: 'the file system is read-only',
  ESTALE: 'the network file system has lost the file',
};
/** For a file, these mean the following; for a process or a program they mean something else. */
const OF_A_FILE: Readonly<Record<string, string>> = {
  EPERM: 'it may not be changed (it is immutable, or belongs to somebody else)',
  EACCES: 'this user may not use it',
};
const OF_THE_SYSTEM: Readonly<Record<string, string>> = {
  EMFILE: 'file descriptors for this process',
  ENFILE: 'file descriptors for the whole machine',
  ENOMEM: 'memory',
};
/** SQLite's codes: it is used for locks and the server's data (sqlite.org/rescode.html). */
const OF_SQLITE: Readonly<Record<number, string>> = {
  8: 'the file system is read-only',
  10: 'the disk reports an I/O error',
  13: 'the disk is full',
  14: 'the file cannot be opened or created',
};
const BY_WORDS: readonly (readonly [RegExp, string])[] = [
  // The second as git says it.
  [/no space left on device|out of diskspace/i, 'ENOSPC'],
  [/disk quota exceeded/i, 'EDQUOT'],
  [/read-only file system/i, 'EROFS'],
  [/input\/output error/i, 'EIO'],
];
const NOT_OF_A_FILE = /^(kill|connect|getaddrinfo|spawn)/;

/** Errors of `rmSync` and `mkdirSync` begin with the word Error. */
const reasonOf = (err: unknown): string => textOf(err).replace(/^Error: /, '');

type SystemError = NodeJS.ErrnoException & { address?: string; errcode?: number };

/**
 * `storage_failed` or `resources_exhausted` for an error of the disk or of the system's limits; any other error
 * unchanged.
 * @param done what is then known about the request, such as "nothing was run"
 */
export function asStorageFailure(err: unknown, done?: string): unknown {
  if (err instanceof HoldfastError) return done === undefined ? err : withDone(err, done);
  const facts = { reason: storageReason(err), ...(done !== undefined && { done }) };
  const resource = resourceOf(err);
  if (resource !== undefined) return new HoldfastError('resources_exhausted', { resource, ...facts });
  return diskFault(err) === undefined ? err : new HoldfastError('storage_failed', facts);
}

/** The result of `work`; if the system refuses it, the failure includes what is known about the request. */
export function withEffect<T>(done: string, work: () => T): T {
  try {
    return work();
  } catch (err) {
    throw asStorageFailure(err, done);
  }
}

/** What the disk or the system reported, in plain words first, without the effect on a request. */
export function storageReason(err: unknown): string {
  if (err instanceof HoldfastError) return String(err.facts.reason ?? err.message);
  const words = diskFault(err);
  return words === undefined ? reasonOf(err) : `${words} (${reasonOf(err)})`;
}

/** The effect on the request is known to the code that made it, not to the code that wrote the file. */
const withDone = (err: HoldfastError, done: string): HoldfastError =>
  ['storage_failed', 'resources_exhausted'].includes(err.code) && err.facts.done === undefined
    ? err.withFacts({ done })
    : err;

const codeOf = (err: unknown): string => (err as SystemError | null)?.code ?? '';

function diskFault(err: unknown): string | undefined {
  const code = codeOf(err);
  if (OF_THE_DISK[code] !== undefined) return OF_THE_DISK[code];
  if (code === 'ERR_SQLITE_ERROR') return OF_SQLITE[((err as SystemError).errcode ?? 0) % 256];
  if (code === '') {
    // `rmSync` and some libraries give only a message.
    const known = BY_WORDS.find(([words]) => words.test(reasonOf(err)));
    return known && OF_THE_DISK[known[1]];
  }
  return isOfAFile(err) ? OF_A_FILE[code] : undefined;
}

/** A socket in a folder is a file; a port is not. */
function isOfAFile(err: unknown): boolean {
  const { syscall = '', address, path } = (err ?? {}) as SystemError;
  if (NOT_OF_A_FILE.test(syscall)) return false;
  if (/^(listen|bind)/.test(syscall)) return (address ?? path ?? '').startsWith('/');
  return syscall !== '';
}

function resourceOf(err: unknown): string | undefined {
  const code = codeOf(err);
  if (OF_THE_SYSTEM[code] !== undefined) return OF_THE_SYSTEM[code];
  const syscall = (err as SystemError | null)?.syscall ?? '';
  if (code === 'EAGAIN' && syscall.startsWith('spawn')) return 'processes';
  // For libraries that give no code.
  if (code !== '' || !/too many open files/i.test(reasonOf(err))) return undefined;
  return /too many open files in system/i.test(reasonOf(err)) ? OF_THE_SYSTEM.ENFILE : OF_THE_SYSTEM.EMFILE;
}

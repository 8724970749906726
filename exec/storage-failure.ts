// Tells a disk that takes nothing from other faults: the first is the operator's to mend, and is said as such.
import { HoldfastError, reasonOf } from '../contracts/errors';

/** No space, no quota, a failing or a read-only disk (errno(3)). */
const OF_THE_DISK = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'EROFS']);

/** `storage_failed` for an error of the disk; any other error as it is. */
export function asStorageFailure(err: unknown): unknown {
  const code = (err as NodeJS.ErrnoException | null)?.code;
  return code !== undefined && OF_THE_DISK.has(code)
    ? new HoldfastError('storage_failed', { reason: reasonOf(err) })
    : err;
}

/** What the disk said, without what it meant for a request. */
export const storageReason = (err: unknown): string =>
  err instanceof HoldfastError ? String(err.facts.reason) : reasonOf(err);

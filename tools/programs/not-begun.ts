// A program that could not be started: it had no effect, whatever the reason.
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import { asStorageFailure } from '../../system/storage-failure';

const done = 'nothing was run';

/** Undefined if neither the disk nor a limit of the system is the reason. */
export function refusal(err: unknown): HoldfastError | undefined {
  const refused = asStorageFailure(err, done);
  return refused instanceof HoldfastError ? refused : undefined;
}

export const notBegun = (err: unknown): HoldfastError =>
  refusal(err) ?? new HoldfastError('storage_failed', { reason: reasonOf(err), done });

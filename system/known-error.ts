// The catalogue's error for anything thrown, where errors leave a process.
import { fromFailure } from '../contracts/errors/failure';
import { HoldfastError, reasonOf } from '../contracts/errors/holdfast-error';
import { addressIn, awayReason, foreignServer, missingNamespace } from '../contracts/errors/server-away';
import { asStorageFailure } from './storage-failure';

export function knownError(err: unknown): HoldfastError {
  const known = fromFailure(err) ?? asStorageFailure(err);
  if (known instanceof HoldfastError) return known;
  if ((err as NodeJS.ErrnoException | null)?.syscall === 'uv_cwd')
    return new HoldfastError('no_working_folder', { got: process.env.PWD ?? '.', reason: 'was deleted' });
  const other = missingNamespace(err) ?? foreignServer(err);
  if (other) return other;
  const reason = awayReason(err);
  return reason === undefined
    ? new HoldfastError('internal', { reason: reasonOf(err) })
    : new HoldfastError('no_server', { address: addressIn(reason) ?? 'its address', reason });
}

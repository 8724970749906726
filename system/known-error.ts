// The catalogue's error for anything thrown, where errors leave a process.
import { fromFailure } from '../contracts/errors/failure';
import { HoldfastError, reasonOf } from '../contracts/errors/holdfast-error';
import { asStorageFailure } from './storage-failure';

export function knownError(err: unknown): HoldfastError {
  const known = fromFailure(err) ?? asStorageFailure(err);
  return known instanceof HoldfastError ? known : new HoldfastError('internal', { reason: reasonOf(err) });
}

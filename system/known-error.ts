// The catalogue's error for anything thrown, where errors leave a process.
import { fromFailure } from '../contracts/errors/failure';
import { HoldfastError, reasonOf } from '../contracts/errors/holdfast-error';
import { foreignServer, missingNamespace, serverAway } from '../contracts/errors/server-away';
import { asStorageFailure } from './storage-failure';

export function knownError(err: unknown): HoldfastError {
  const known = fromFailure(err) ?? asStorageFailure(err);
  if (known instanceof HoldfastError) return known;
  if ((err as NodeJS.ErrnoException | null)?.syscall === 'uv_cwd')
    return new HoldfastError('no_working_folder', { got: process.env.PWD ?? '.', reason: 'was deleted' });
  return (
    missingNamespace(err) ??
    foreignServer(err) ??
    serverAway(err) ??
    new HoldfastError('internal', { reason: reasonOf(err) })
  );
}

// Failures of a request that say nothing about it: in the catalogue's words, in place of the SDK's.
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { foreignServer, missingNamespace, serverAway } from '../../contracts/errors/server-away';
import { isClosed } from './closed-connection';

/**
 * `namespace_missing`, or `no_server` where nothing or something else answers, or on a connection that was closed here;
 * else undefined.
 */
export function requestFailure(err: unknown, address?: string): HoldfastError | undefined {
  const other = missingNamespace(err) ?? foreignServer(err, address) ?? serverAway(err, address);
  if (other || !isClosed(err)) return other;
  return new HoldfastError('no_server', {
    address: address ?? 'its address',
    reason: 'this program has closed its connection',
    next: 'Close a client, workers or a test environment last, or make another one; a closed one stays closed.',
  });
}

/** Asks once; throws such a failure in the catalogue's words. */
export async function answered<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (err) {
    throw requestFailure(err) ?? err;
  }
}

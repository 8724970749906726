// Which Node Holdfast's workers take: bin/holdfast.js has the same number for the command line.
import { HoldfastError } from '../contracts/errors';

/** Older ones lose bytes of terminals, and have no kernel lock. */
const MIN_NODE = 24;

/** Throws `node_too_old`. */
export function requireNode(): void {
  const got = process.versions.node;
  if (Number(got.split('.')[0]) < MIN_NODE)
    throw new HoldfastError('node_too_old', { got, allowed: `${MIN_NODE} or newer` });
}

// The oldest Node that workers run on. bin/holdfast.js and `engines` in package.json have the same number.
import { HoldfastError } from '../contracts/errors/holdfast-error';

/** Older ones have no SQLite without a flag, which gives us kernel locks. */
export const MIN_NODE = '22.13';

export function isNodeNewEnough(version = process.versions.node): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [minMajor = 0, minMinor = 0] = MIN_NODE.split('.').map(Number);
  return major > minMajor || (major === minMajor && minor >= minMinor);
}

/** Throws `node_too_old`. */
export function requireNode(): void {
  if (isNodeNewEnough()) return;
  throw new HoldfastError('node_too_old', { got: process.versions.node, allowed: `${MIN_NODE} or newer` });
}

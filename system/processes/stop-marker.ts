// `holdfast down` applies to a data folder from its beginning until the next start that somebody asks for. What is being
// started meanwhile must not begin.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { HoldfastError } from '../../contracts/errors/holdfast-error';

/** Exists while `holdfast down` applies: watching commands then stop watching, and restart nothing. */
export const stopMarker = (dataDir: string): string => join(dataDir, 'stopping');

/**
 * Throws `engine_stopped` while `holdfast down` applies. To be called once a process is recorded and before it may begin:
 * `down` sets the marker before it reads the records, so one of the two sees the other.
 */
export function refuseIfStopped(dataDir: string, what: string): void {
  if (existsSync(stopMarker(dataDir))) throw new HoldfastError('engine_stopped', { starting: what });
}

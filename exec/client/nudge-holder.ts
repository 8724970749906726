// Asks a living holder that cannot be found to make itself findable at once: an idle one looks only now and then.
import { isAlive, type Identity } from '../../system/processes/process-identity';
import { NUDGE } from '../protocol';

export function nudgeHolder(holder: Identity | undefined): void {
  try {
    if (holder && isAlive(holder)) process.kill(holder.pid, NUDGE);
  } catch {
    // It has just ended.
  }
}

// A rewind whose worker is killed may have changed some of the files: it is waited for longer than one that never began.
import { ActivityFailure, TimeoutFailure } from '@temporalio/workflow';
import { REWIND_BEGAN, type RewoundWorkspace } from '../../contracts/workspaces/requests-to-hosts';
import { hostFailure } from './host-activities';

/** Each waits half a minute for a worker of the host: ten minutes in all. */
const MORE_TRIES = 20;

/**
 * Asks a host for a rewind, again where one that began is still waiting for the next worker. Throws the catalogue's error.
 * @param isOver whether it is not waited for any more: the host's next worker finishes the files all the same
 */
export async function rewindOn(
  host: string,
  ask: () => Promise<RewoundWorkspace>,
  isOver = (): boolean => false,
): Promise<RewoundWorkspace> {
  let hasBegun = false;
  for (let left = MORE_TRIES; ; left--) {
    try {
      return await ask();
    } catch (err) {
      const timeout =
        err instanceof ActivityFailure && err.cause instanceof TimeoutFailure ? err.cause : undefined;
      hasBegun ||= timeout?.lastHeartbeatDetails === REWIND_BEGAN;
      const isDelayed = hasBegun && timeout?.timeoutType === 'SCHEDULE_TO_START';
      if (!isDelayed || left === 0 || isOver()) throw hostFailure(err, host);
    }
  }
}

// `carryBlob`: brings a part of a large value from the machine that has it. A workflow of its own, so that no session's
// history grows by it; it is over at once.
import { ApplicationFailure, TimeoutFailure, ActivityFailure } from '@temporalio/workflow';
import { HoldfastError } from '../contracts/errors';
import { toFailure } from '../contracts/failure';
import { carryBlobSchema } from '../contracts/schemas/tools';
import { DELIVERY_MS, hostFailure } from './host-activities';
import { checked } from './refusal';
import { toolsAt } from './tool-activities';

/** Each part is read anew, so it may be asked for again. */
const OPTIONS = {
  startToCloseTimeout: '30s',
  retry: { maximumAttempts: 3, initialInterval: '200ms' },
} as const;

export interface CarryBlobInput {
  /** Task queue of the machine. */
  at: string;
  sha256: string;
  from: number;
}

/** Ends with the part, or fails with the catalogue's error: `host_offline`, `not_found`, `unknown_outcome`. */
export async function carryBlob(input?: CarryBlobInput): Promise<string> {
  const { at, sha256, from } = checked(carryBlobSchema, 'The input of carryBlob', input);
  const owner = toolsAt(at, { ...OPTIONS, scheduleToStartTimeout: DELIVERY_MS });
  try {
    return await owner.readBlob({ sha256, from });
  } catch (err) {
    const [, host] = /^host\.(.*)$/.exec(at) ?? [];
    const failure = host === undefined ? err : hostFailure(err, host);
    if (failure instanceof ApplicationFailure) throw failure;
    const cause = err instanceof ActivityFailure ? err.cause : err;
    const reason = cause instanceof TimeoutFailure ? 'nobody answered in time' : String(cause);
    throw toFailure(new HoldfastError('unknown_outcome', { what: 'reading a part of a value', reason }));
  }
}

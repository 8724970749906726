// `carryBlob`: fetches part of a large value from the machine that has it. A separate, short workflow, so that no
// session's history grows.
import { ApplicationFailure, TimeoutFailure, ActivityFailure } from '@temporalio/workflow';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { toFailure } from '../../contracts/errors/failure';
import { carryBlobSchema } from '../../contracts/schemas/tools';
import { DELIVERY_MS, hostFailure } from './host-activities';
import { checked } from '../messages/refusal';
import { toolsAt } from '../turn/calls/tool-activities';

/** Each part is read afresh, so a repeat is safe. */
const OPTIONS = {
  startToCloseTimeout: '30s',
  retry: { maximumAttempts: 3, initialInterval: '200ms' },
} as const;

export interface CarryBlobInput {
  /** The machine's task queue. */
  at: string;
  sha256: string;
  from: number;
  /** Its name, if it is in the team's bucket. */
  object?: string | undefined;
}

/** Ends with the part, or fails with the catalogue's error: `host_offline`, `not_found`, `unknown_outcome`. */
export async function carryBlob(input?: CarryBlobInput): Promise<string> {
  const { at, ...part } = checked(carryBlobSchema, 'The input of carryBlob', input);
  const owner = toolsAt(at, { ...OPTIONS, scheduleToStartTimeout: DELIVERY_MS });
  try {
    return await owner.readBlob(part);
  } catch (err) {
    const [, host] = /^host\.(.*)$/.exec(at) ?? [];
    const failure = host === undefined ? err : hostFailure(err, host);
    if (failure instanceof ApplicationFailure) throw failure;
    const cause = err instanceof ActivityFailure ? err.cause : err;
    const reason = cause instanceof TimeoutFailure ? 'nobody answered in time' : String(cause);
    throw toFailure(new HoldfastError('unknown_outcome', { what: 'reading part of a value', reason }));
  }
}

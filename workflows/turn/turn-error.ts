// Why a model call ended a turn, as data.
import { ActivityFailure } from '@temporalio/workflow';
import type { EndReason, TurnError } from '../../contracts/agents/agent';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import { fromFailure } from '../../contracts/errors/failure';
import { fitText } from '../../contracts/payload-size';
import { outOfTime } from './out-of-time';

export const SHOWN_BYTES = 4_000;

function errorOf(err: unknown): TurnError {
  const cause = err instanceof ActivityFailure ? err.cause : err;
  const reason = (): string => fitText(reasonOf(cause), SHOWN_BYTES);
  return (fromFailure(err) ?? new HoldfastError('model_failed', { reason: reason() })).toData();
}

/** Why a turn ends, and what it answers if that is not its last prose. */
export interface TurnEnd {
  reason: EndReason;
  answer?: string;
  error?: TurnError | null;
}

/** The end of a turn whose model call failed. */
export function endOf(err: unknown): TurnEnd {
  const late = outOfTime(err);
  if (!late) return { reason: 'model_error', error: errorOf(err) };
  return { reason: 'time_limit', error: late.failure ? errorOf(late.failure) : null };
}

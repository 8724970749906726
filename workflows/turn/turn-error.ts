// Why a model call ended a turn, as data.
import { ActivityFailure } from '@temporalio/workflow';
import type { TurnError } from '../../contracts/agents/agent';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import { fromFailure } from '../../contracts/errors/failure';
import { fitText } from '../../contracts/payload-size';

export const SHOWN_BYTES = 4_000;

export function errorOf(err: unknown): TurnError {
  const cause = err instanceof ActivityFailure ? err.cause : err;
  const reason = (): string => fitText(reasonOf(cause), SHOWN_BYTES);
  return (fromFailure(err) ?? new HoldfastError('model_failed', { reason: reason() })).toData();
}

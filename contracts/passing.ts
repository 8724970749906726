// Failures of a host that say nothing of the request itself.
import { HoldfastError } from './errors';

const PASSING: readonly string[] = ['session_unreachable', 'storage_failed', 'resources_exhausted'];

/** Whether a failure passes by itself, or when somebody puts right what is outside of Holdfast. */
export const isPassing = (err: unknown): err is HoldfastError =>
  err instanceof HoldfastError && PASSING.includes(err.code);

/**
 * The failure of a look, for a caller who asked for more than that: what the look did not send says nothing of what was
 * done before it.
 */
export const ofLookBehind = (err: HoldfastError, done: string): HoldfastError =>
  err.code === 'session_unreachable' ? new HoldfastError(err.code, { ...err.facts, delivered: done }) : err;

// Host failures that say nothing about the request itself.
import { HoldfastError } from './holdfast-error';

const PASSING: readonly string[] = ['session_unreachable', 'storage_failed', 'resources_exhausted'];

/** Whether a failure passes by itself, or once someone fixes a problem outside Holdfast. */
export const isPassing = (err: unknown): err is HoldfastError =>
  err instanceof HoldfastError && PASSING.includes(err.code);

/**
 * The failure of a read, for a caller that had asked for more than the read: that the read did nothing says nothing
 * about what was done before it.
 */
export const ofLookBehind = (err: HoldfastError, done: string): HoldfastError =>
  err.code === 'session_unreachable' ? err.withFacts({ delivered: done }) : err;

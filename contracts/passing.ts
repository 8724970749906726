// Failures of a host that say nothing of the request itself.
import { HoldfastError } from './errors';

const PASSING: readonly string[] = ['session_unreachable', 'storage_failed', 'resources_exhausted'];

/** Whether a failure passes by itself, or when somebody puts right what is outside of Holdfast. */
export const isPassing = (err: unknown): err is HoldfastError =>
  err instanceof HoldfastError && PASSING.includes(err.code);

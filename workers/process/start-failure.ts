// How a process that a command line has started reports why it ends.
import { HoldfastError, type ErrorCode, type ErrorFacts } from '../../contracts/errors/holdfast-error';
import { asStorageFailure } from '../../system/storage-failure';

/** The report of a worker that cannot start, for the process that starts it. */
export interface StartFailure {
  code: ErrorCode;
  facts: ErrorFacts;
}

/** Tells the starting process, if it still waits, and exits. */
export function reportFailure(err: unknown): void {
  const known = asStorageFailure(err);
  if (known instanceof HoldfastError && process.connected)
    process.send?.({ code: known.code, facts: known.facts } satisfies StartFailure);
  // One line: the starting process shows the last lines of this log.
  console.error(known instanceof HoldfastError ? `${known.code}: ${known.message}` : err);
  process.exit(1);
}

// How a process that a command line has started reports why it ends.
import { reasonOf, type ErrorCode, type ErrorFacts } from '../../contracts/errors/holdfast-error';
import { knownError } from '../../system/known-error';

/** The report of a worker that cannot start, for the process that starts it. */
export interface StartFailure {
  code: ErrorCode;
  facts: ErrorFacts;
}

/** Reports to the starting process, if it still waits, and exits. */
export function reportFailure(err: unknown): void {
  const known = knownError(err);
  if (known.code === 'internal') {
    console.error(err);
    // The starting process shows the last lines of this log, and a stack ends with anything but the reason.
    console.error(`Reason: ${reasonOf(err)}`);
  } else {
    if (process.connected) process.send?.({ code: known.code, facts: known.facts } satisfies StartFailure);
    console.error(`${known.code}: ${known.message}`);
  }
  process.exit(1);
}

// What the guard of sealed messages and the workflow that it guards tell each other: one workflow has one of each.
import { log } from '@temporalio/workflow';

export const messageGuard = {
  /** Nothing is taken but what was sealed for this workflow: an approval, too, then says what it approves. */
  demandsSeals: false,
  /** Takes what is amiss with a signal: nobody else is told. */
  refused: (err: unknown): void => log.warn(err instanceof Error ? err.message : String(err)),
};

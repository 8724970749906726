// Shared between the guard of sealed messages and the workflow that it guards; each workflow has its own.
import { log } from '@temporalio/workflow';

export const messageGuard = {
  /** Only messages sealed for this workflow are accepted; an approval must then also name what it approves. */
  demandsSeals: false,
  /** Receives faults of signals: their senders get no answer. */
  refused: (err: unknown): void => log.warn(err instanceof Error ? err.message : String(err)),
};

// Shared between the guard of sealed messages and the workflow that it guards; each workflow has its own.
import { log } from '@temporalio/workflow';

interface MessageGuard {
  /** Only messages sealed for this workflow are accepted; an approval must then also name what it approves. */
  demandsSeals: boolean;
  /** Receives faults of signals: their senders get no answer. */
  refused: (err: unknown) => void;
}

/** A worker evaluates modules once, for all its workflows; of the global object the SDK gives each workflow its own. */
const own = globalThis as { holdfastMessageGuard?: MessageGuard };

export const messageGuard = (): MessageGuard =>
  (own.holdfastMessageGuard ??= {
    demandsSeals: false,
    refused: (err) => log.warn(err instanceof Error ? err.message : String(err)),
  });

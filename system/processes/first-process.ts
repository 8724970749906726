// The first process of a container has no default action for signals: the kernel drops those that nothing handles.
import { constants } from 'node:os';

/** Lets SIGINT and SIGTERM end this process, as they end any other, where nothing else handles them. */
export function endBySignals(): void {
  if (process.pid !== 1) return;
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) process.exit(128 + constants.signals[signal]);
    });
}

// Says in the worker's log how a command ended. Never what it was: its code and its output may hold secrets.
import { isCancellation, log } from '@temporalio/workflow';
import { fromFailure } from '../../contracts/errors/failure';
import type { CommandView } from '../../contracts/sessions/session';
import type { RunningCommand } from './session-record';

export function logCommand(
  { id: command, runtime, startedAt }: RunningCommand,
  end: Promise<CommandView>,
): void {
  const facts = { command, runtime };
  const after = (): Record<string, unknown> => ({ ...facts, ms: Date.now() - startedAt });
  log.debug('command started', facts);
  end.then(
    ({ state, exitCode }) =>
      state === 'lost'
        ? log.warn('command lost', after())
        : log.info('command ended', { ...after(), state, exitCode }),
    (err: unknown) => {
      if (isCancellation(err)) return;
      log.warn('command failed', { ...after(), code: fromFailure(err)?.code ?? 'unknown' });
    },
  );
}

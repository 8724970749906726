// `holdfast reset`: ends what runs in a session, and keeps the session.
import type { SessionOptions } from '../global-options';
import { action, examples, ofSession, type Define } from '../define-command';
import { withSession } from '../with-session';

interface ResetOptions extends SessionOptions {
  reason?: string;
}

export const define: Define = (command) =>
  ofSession(command)
    .option('--reason <text>', 'recorded and shown')
    .addHelpText(
      'after',
      examples("holdfast reset --session 1 --reason 'it hangs'   the next command gets a new shell"),
    )
    .action(action(reset));

function reset(options: ResetOptions): Promise<number> {
  return withSession(options, (session) =>
    session.reset(options.reason === undefined ? {} : { reason: options.reason }),
  );
}

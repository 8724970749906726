// `holdfast close`: ends a session.
import { openContext } from '../context';
import type { SessionOptions } from '../global-options';
import { action, examples, ofSession, type Define } from '../define-command';
import { printJson } from '../print/print-json';
import { note } from '../terminal/terminal-style';

interface CloseOptions extends SessionOptions {
  reason?: string;
}

export const define: Define = (command) =>
  ofSession(command)
    .option('--reason <text>', 'recorded and shown')
    .addHelpText('after', examples('holdfast close --session 1   its log is kept'))
    .action(action(close));

/** Ends everything in the session, its holder and its workflow; the log stays. */
async function close(options: CloseOptions): Promise<number> {
  await using context = await openContext(options, { start: false, restarts: true });
  const session = context.client.session(options);
  await session.state();
  await session.close(options.reason ?? 'holdfast close');
  await session.closed({ needsWorker: true });
  if (options.json) printJson({ session: options.session, closed: true });
  else note(`Session ${options.session} is closed; its log is kept.`);
  return 0;
}

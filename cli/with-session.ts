// A command that asks one session, and shows what it answers.
import type { SessionHandle } from '../client/session-handle';
import type { CommandView } from '../contracts/sessions/session';
import { openContext } from './context';
import type { SessionOptions } from './global-options';
import type { CliContext } from './open-context';
import { draw } from './terminal/guarded-output';
import { sessionText } from './terminal/inert-text';
import { note } from './terminal/terminal-style';
import { printJson } from './print/print-json';
import { factsOf } from './print/view-facts';

export async function withSession(
  options: SessionOptions,
  work: (session: SessionHandle, context: CliContext) => Promise<CommandView>,
): Promise<number> {
  await using context = await openContext(options, { start: false, restarts: true });
  const view = await work(context.client.session(options), context);
  if (options.json) printJson(view);
  else printView(view);
  return 0;
}

function printView(view: CommandView): void {
  draw(sessionText(view.output));
  if (view.output !== '' && !view.output.endsWith('\n')) process.stdout.write('\n');
  note(factsOf(view));
}

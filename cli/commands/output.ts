// `holdfast output`: what a session has printed.
import type { SessionHandle } from '../../client/session-handle';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { OutputRequest } from '../../contracts/schemas/session';
import { MAX_PAGE_BYTES, type CommandView, type Wait } from '../../contracts/sessions/session';
import { named, wholeNumber } from '../arguments';
import { isLocal } from '../context';
import type { SessionOptions } from '../global-options';
import type { CliContext } from '../open-context';
import { action, examples, ofSession, type Define } from '../define-command';
import { keptView } from '../local-host';
import { withSession } from '../with-session';
import { draw } from '../terminal/guarded-output';
import { sessionText } from '../terminal/inert-text';

interface OutputOptions extends SessionOptions {
  from?: number;
  wait?: Wait;
  waitMs?: number;
}

export const define: Define = (command) =>
  ofSession(command)
    .option('--from <offset>', 'all output from this byte on', wholeNumber)
    .option('--wait <what>', 'exit, output, idle, needs_input or pattern:RE', named)
    .option('--wait-ms <ms>', 'the longest wait', wholeNumber)
    .addHelpText(
      'after',
      examples(
        'holdfast output                                     the last command: its beginning and its end',
        'holdfast output --session 1 --from 0                all of it; of a closed session, too',
        "holdfast output --session 1 --wait 'pattern:ready'  as soon as that is printed",
      ),
    )
    .action(action(output));

/** With `--from`, all output from there, however long; without it, the view with head and tail. */
function output(options: OutputOptions): Promise<number> {
  const { from, wait, waitMs, json } = options;
  const request = { ...(wait && { wait }), ...(waitMs !== undefined && { waitMs }) };
  return withSession(options, async (session, context) => {
    const look = (at: number | undefined, more: OutputRequest = {}): Promise<CommandView> =>
      outputOf(session, context, { ...more, ...(at !== undefined && { from: at }) });
    if (from === undefined || json) return look(from, request);
    let view = await look(from, { ...request, maxBytes: MAX_PAGE_BYTES });
    for (let last = view; last.to > last.from; view = { ...last, from }) {
      draw(sessionText(last.output));
      last = await look(last.to, { maxBytes: MAX_PAGE_BYTES });
      if (last.to === last.from) return { ...last, output: '' };
    }
    return view;
  });
}

/** If the session is closed, what its log on this machine keeps. */
async function outputOf(
  session: SessionHandle,
  context: CliContext,
  request: OutputRequest,
): Promise<CommandView> {
  try {
    return await session.output(request);
  } catch (err) {
    const isOver = err instanceof HoldfastError && ['not_found', 'session_closed'].includes(err.code);
    const kept =
      isOver && isLocal(context, session.ref.host)
        ? await keptView(context.dataDir, session.ref, request.from)
        : undefined;
    if (!kept) throw err;
    return kept;
  }
}

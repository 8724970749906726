// `holdfast output`, `input`, `reset` and `close`: look at a session, type into it, end what runs in it, end it.
import type { SessionHandle } from '../../client/session-handle';
import { HoldfastError } from '../../contracts/errors';
import { KEYS, MAX_PAGE_BYTES, type CommandView, type Key, type Wait } from '../../contracts/session';
import { openContext, type SessionOptions } from '../context';
import { draw } from '../guarded-output';
import { sessionText } from '../inert-text';
import { printJson } from '../print-json';
import { note } from '../terminal-style';
import { factsOf } from '../view-facts';

export interface OutputOptions extends SessionOptions {
  from?: number;
  wait?: Wait;
  waitMs?: number;
}
export interface InputOptions extends SessionOptions {
  key?: string[];
  yieldMs?: number;
  id?: string;
}
export interface ResetOptions extends SessionOptions {
  reason?: string;
}

/** With `--from` all output from there, however long; without it the view with head and tail. */
export function output(options: OutputOptions): Promise<number> {
  return withSession(options, async (session) => {
    const { from, wait, waitMs } = options;
    const request = {
      ...(from !== undefined && { from }),
      ...(wait && { wait }),
      ...(waitMs !== undefined && { waitMs }),
    };
    if (from === undefined || options.json) return session.output(request);
    let view = await session.output({ ...request, maxBytes: MAX_PAGE_BYTES });
    for (let last = view; last.to > last.from; view = { ...last, from }) {
      draw(sessionText(last.output));
      last = await session.output({ from: last.to, maxBytes: MAX_PAGE_BYTES });
      if (last.to === last.from) return { ...last, output: '' };
    }
    return view;
  });
}

export function input(text: string | undefined, options: InputOptions): Promise<number> {
  const unknown = options.key?.find((key) => !Object.hasOwn(KEYS, key));
  if (unknown !== undefined) {
    const allowed = Object.keys(KEYS).join(', ');
    throw new HoldfastError('invalid_input', { what: '--key', got: unknown, allowed });
  }
  return withSession(options, (session) => {
    const ms = options.yieldMs ?? 1_000;
    return session.input(
      {
        ...(text !== undefined && { keyboard: text }),
        ...(options.key && { keys: options.key as Key[] }),
        yield: { firstOutputMs: ms, betweenOutputMs: ms, maxMs: ms },
      },
      options.id,
    );
  });
}

/** Ends everything in the session, its holder and its workflow; the log stays. */
export async function close(options: ResetOptions): Promise<number> {
  await using context = await openContext(options, { start: false });
  const session = context.client.session(options);
  await session.state();
  await session.close(options.reason ?? 'holdfast close');
  await session.closed();
  if (options.json) printJson({ session: options.session, closed: true });
  else note(`Session ${options.session} is closed; its log is kept.`);
  return 0;
}

export function reset(options: ResetOptions): Promise<number> {
  return withSession(options, (session) =>
    session.reset(options.reason === undefined ? {} : { reason: options.reason }),
  );
}

async function withSession(
  options: SessionOptions,
  work: (session: SessionHandle) => Promise<CommandView>,
): Promise<number> {
  await using context = await openContext(options, { start: false });
  const view = await work(context.client.session(options));
  if (options.json) printJson(view);
  else printView(view);
  return 0;
}

function printView(view: CommandView): void {
  draw(sessionText(view.output));
  if (view.output !== '' && !view.output.endsWith('\n')) process.stdout.write('\n');
  note(factsOf(view));
}

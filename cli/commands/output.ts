// `holdfast output`, `input`, `reset` and `close`: look at a session, type into it, end its programs, end it.
import type { SessionHandle } from '../../client/session-handle';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { inertLine } from '../../contracts/text/inert';
import {
  KEYS,
  MAX_PAGE_BYTES,
  type CommandView,
  type InputRequest,
  type Key,
  type OutputRequest,
  type Wait,
} from '../../contracts/sessions/session';
import { isLocal, openContext, type CliContext, type SessionOptions } from '../context';
import { draw } from '../terminal/guarded-output';
import { sessionText } from '../terminal/inert-text';
import { keptView } from '../local-host';
import { printJson } from '../print/print-json';
import { note } from '../terminal/terminal-style';
import { factsOf } from '../print/view-facts';

export interface OutputOptions extends SessionOptions {
  from?: number;
  wait?: Wait;
  waitMs?: number;
}
export interface InputOptions extends SessionOptions {
  key?: string[];
  /** False for `--no-enter`. */
  enter?: boolean;
  yieldMs?: number;
  id?: string;
}
export interface ResetOptions extends SessionOptions {
  reason?: string;
}

/** With `--from`, all output from there, however long; without it, the view with head and tail. */
export function output(options: OutputOptions): Promise<number> {
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

/** Of a session that is closed, what its log on this machine keeps. */
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

export function input(text: string | undefined, options: InputOptions): Promise<number> {
  const typed = typedBy(text, options);
  return withSession(options, (session) => {
    const ms = options.yieldMs ?? 1_000;
    const yielding = { firstOutputMs: ms, betweenOutputMs: ms, maxMs: ms };
    return session.input({ ...typed, yield: yielding }, options.id);
  });
}

/** Single characters are text: those before the first named key are typed without Enter. Throws `invalid_input`. */
function typedBy(text: string | undefined, { key = [], enter = true }: InputOptions): InputRequest {
  const keys = key.map((name) => (name.length > 1 ? name.toLowerCase() : name));
  const named = keys.findIndex((key) => Object.hasOwn(KEYS, key));
  const characters = keys.slice(0, named < 0 ? keys.length : named);
  const rest = keys.slice(characters.length);
  const wrong = characters.find((key) => !isCharacter(key)) ?? rest.find((key) => !Object.hasOwn(KEYS, key));
  if (wrong !== undefined) {
    const allowed = `${Object.keys(KEYS).join(', ')}, and before them single characters such as y`;
    throw new HoldfastError('invalid_input', { what: '--key', got: wrong, allowed });
  }
  if (text !== undefined && characters.length > 0)
    throw new HoldfastError('invalid_input', {
      what: '--key',
      got: `${characters.join(' ')} beside a text`,
      allowed: 'either of them',
    });
  if (text === undefined && keys.length === 0)
    throw new HoldfastError('invalid_input', {
      what: 'The input',
      got: 'neither a text nor --key',
      allowed: "a text ('' is Enter alone) or --key NAME",
    });
  const pressed = rest.length > 0 && { keys: rest as Key[] };
  if (text !== undefined) return { keyboard: text, ...(!enter && { enter }), ...pressed };
  return { ...(characters.length > 0 && { keyboard: characters.join(''), enter: false }), ...pressed };
}

const isCharacter = (key: string): boolean => [...key].length === 1 && inertLine(key) === key;

/** Ends everything in the session, its holder and its workflow; the log stays. */
export async function close(options: ResetOptions): Promise<number> {
  await using context = await openContext(options, { start: false, restarts: true });
  const session = context.client.session(options);
  await session.state();
  await session.close(options.reason ?? 'holdfast close');
  await session.closed({ needsWorker: true });
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

// The tool `write_stdin` of Codex's unified exec: types into a process of exec_command, or looks at its output.
import * as z from 'zod/mini';
import type { SessionHandle } from '../../client/session-handle';
import { type ErrorCode, HoldfastError } from '../../contracts/errors/holdfast-error';
import { keyboardSchema, sessionNumber } from '../../contracts/schemas/session';
import { KEYS, type CommandView, type Key } from '../../contracts/sessions/session';
import { AGENT_READER, refuseOwnSession, type Tool, type ToolContext } from '../tool';
import { inputCall } from './call-id';
import {
  execResult,
  execResultSchema,
  execSession,
  execText,
  maxTokensSchema,
  yieldAfter,
  yieldMsSchema,
  type ExecResult,
} from './unified-exec';

const TYPE_YIELD_MS = 250;
/** For a call that only looks, and wants to see output. */
const LOOK_YIELD_MS = 5_000;

const argsSchema = z.strictObject({
  session_id: sessionNumber.check(z.describe('Session ID that exec_command returned.')),
  chars: z._default(
    keyboardSchema.check(
      z.describe('Typed as is, without Enter: end a line with "\\n". "\\u0003" is Ctrl-C. Empty: only look.'),
    ),
    '',
  ),
  yield_time_ms: z.optional(yieldMsSchema(TYPE_YIELD_MS).def.innerType),
  max_output_tokens: maxTokensSchema,
});
type Args = z.infer<typeof argsSchema>;

export const writeStdinTool: Tool<Args, ExecResult> = {
  name: 'write_stdin',
  description:
    'Types characters into a running process that exec_command started, and returns its output ' +
    'since the last look. With empty chars it waits for output or the end.',
  args: argsSchema,
  argumentRoles: { session: 'session_id', typed: 'chars' },
  result: execResultSchema,
  // The input may be a password.
  secret: true,
  // The same key types only once.
  effects: 'idempotent',
  async run(args, context) {
    const since = Date.now();
    refuseOwnSession(context, args.session_id);
    const session = execSession(context, args.session_id);
    const view = await viewOf(args, session, context);
    return execResult(session, view, { since, maxTokens: args.max_output_tokens });
  },
  text: execText,
};

async function viewOf(args: Args, session: SessionHandle, context: ToolContext): Promise<CommandView> {
  const { chars, yield_time_ms: waitMs } = args;
  const { key } = context;
  const yielding = yieldAfter(waitMs ?? (chars === '' ? LOOK_YIELD_MS : TYPE_YIELD_MS));
  try {
    if (chars === '')
      return await session.output({ reader: AGENT_READER, wait: 'exit', waitMs: yielding.maxMs }, key);
    return await inputCall(session, { ...pressed(chars), reader: AGENT_READER, yield: yielding }, context);
  } catch (err) {
    // It ended first: the answer reports that.
    if (isError(err, 'no_running_process')) return session.output({ reader: AGENT_READER }, `${key}/end`);
    if (isError(err, 'not_found')) return lastView(session, err);
    throw err;
  }
}

const isError = (err: unknown, code: ErrorCode): err is HoldfastError =>
  err instanceof HoldfastError && err.code === code;

/** Ctrl-C goes as a key: as a byte it could wait behind unread input. */
function pressed(chars: string): { keys: Key[] } | { keyboard: string; enter: false } {
  const key = (Object.keys(KEYS) as Key[]).find((name) => KEYS[name] === chars);
  return key ? { keys: [key] } : { keyboard: chars, enter: false };
}

/** For a session closed in the meantime: how its process ended, with its output from the beginning. */
async function lastView(session: SessionHandle, err: HoldfastError): Promise<CommandView> {
  const { view } = await session.state();
  if (!view) throw err;
  return view;
}

// The tool `exec_command` of Codex's unified exec: starts a process in a terminal of its own.
import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { HoldfastError } from '../contracts/errors';
import { MAX_CODE_BYTES } from '../contracts/session';
import { pathText } from './host-files';
import { AGENT_READER, refuseOwnSession, type Tool, type ToolContext, grantOf } from './tool';
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

const DEFAULT_YIELD_MS = 10_000;
/** One that has ended and that nobody asks for any more closes after so long. */
const IDLE_MS = 600_000;

/** Numbers that agents do not choose for the sessions of code_execution_tool. */
const FIRST_SESSION = 990_000;
const SESSIONS = 10_000;
const CANDIDATES = 8;

const argsSchema = z.strictObject({
  cmd: z.string().check(
    z.refine<string>((text) => text.trim() !== '' && !text.includes('\0'), {
      error: 'must hold a command and no NUL character',
    }),
    z.refine<string>((text) => Buffer.byteLength(text) < MAX_CODE_BYTES / 2, {
      error: `must be shorter than ${MAX_CODE_BYTES / 2} bytes; write long scripts to a file`,
    }),
    z.describe('The command line for the shell.'),
  ),
  workdir: z.optional(pathText('Folder to run in. Default: the working folder.')),
  shell: z._default(pathText('The shell that runs the command.'), 'bash'),
  login: z._default(
    z.boolean().check(
      // Profiles of systems set PATH anew, and what the host set up is lost.
      z.describe(
        'Whether the shell reads the profile files (-l). Default false: the PATH stays as the host has it.',
      ),
    ),
    false,
  ),
  tty: z._default(
    z.boolean().check(z.describe('There is always a terminal. False: it does not echo what is typed.')),
    false,
  ),
  yield_time_ms: yieldMsSchema(DEFAULT_YIELD_MS),
  max_output_tokens: maxTokensSchema,
});
type Args = z.infer<typeof argsSchema>;

export const execCommandTool: Tool<Args, ExecResult> = {
  name: 'exec_command',
  description:
    'Runs a command in a terminal of its own and returns its output, or a session ID for write_stdin when it still ' +
    'runs after yield_time_ms. Each call is a new process; when it ends, what it left in the background ends too: ' +
    'keep a server in the foreground.',
  args: argsSchema,
  result: execResultSchema,
  // The call's key is the command's id: a second run finds the command and starts nothing.
  effects: 'idempotent',
  async run(args, context) {
    const since = Date.now();
    const { key } = context;
    const request = {
      id: key,
      code: codeOf(args),
      reader: AGENT_READER,
      tools: grantOf(context),
      yield: yieldAfter(args.yield_time_ms),
    };
    const candidates = await candidatesOf(context);
    for (const number of candidates) {
      refuseOwnSession(context, number);
      const session = execSession(context, number, IDLE_MS);
      try {
        const view = await session.exec(request, key);
        return await execResult(session, view, { since, maxTokens: args.max_output_tokens });
      } catch (err) {
        // Another command has the same number: the next one is tried.
        const isTaken = err instanceof HoldfastError && err.code === 'busy' && number !== candidates.at(-1);
        if (!isTaken) throw err;
      }
    }
    throw new HoldfastError('internal', { reason: 'no session was tried' });
  },
  text: execText,
};

/**
 * The sessions to try, in their order. They follow from the call's key, so that a later attempt comes to the session
 * of the first; where that was not the first of them, because another command ran there, it is looked for.
 */
async function candidatesOf(context: ToolContext): Promise<number[]> {
  const digest = createHash('sha256').update(context.key).digest();
  const numbers = Array.from(
    { length: CANDIDATES },
    (_, index) => FIRST_SESSION + (digest.readUInt32BE(index * 4) % SESSIONS),
  );
  if (context.attempt === 1) return numbers;
  for (const number of numbers) if (await hasCommand(context, number)) return [number];
  return numbers;
}

async function hasCommand(context: ToolContext, number: number): Promise<boolean> {
  try {
    const { command, view } = await execSession(context, number).state();
    return command?.id === context.key || view?.commandId === context.key;
  } catch (err) {
    if (err instanceof HoldfastError && err.code === 'not_found') return false;
    throw err;
  }
}

/** A process of its own, so that nothing of it stays in the session's shell. */
function codeOf({ cmd, workdir, shell, login, tty }: Args): string {
  const command = `${quote(shell)} ${login ? '-lc' : '-c'} ${quote(cmd)}`;
  const inFolder = workdir === undefined ? '' : `cd -- ${quote(workdir)} && `;
  const echo = tty ? '' : 'stty -echo; ';
  return `( ${echo}${inFolder}exec ${command} )`;
}

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

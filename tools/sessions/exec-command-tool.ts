// The tool `exec_command` of Codex's unified exec: starts a process in its own terminal.
import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { MAX_CODE_BYTES } from '../../contracts/sessions/session';
import { execInFree } from './free-session';
import { isAtHome, pathText } from '../files/host-files';
import { quote } from '../../contracts/text/shell-word';
import { AGENT_READER, grantOf, type Tool } from '../tool';
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
/** A session whose process has ended and that is not asked for closes after this long. */
const IDLE_MS = 600_000;

/** Numbers that agents do not choose for sessions of code_execution_tool. */
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
      // System profiles reset PATH, which discards the host's settings.
      z.describe(
        'Whether the shell reads the profile files (-l). Default false: the PATH stays as the host has it.',
      ),
    ),
    false,
  ),
  tty: z._default(
    z.boolean().check(z.describe('There is always a terminal. False: it does not echo input.')),
    false,
  ),
  yield_time_ms: yieldMsSchema(DEFAULT_YIELD_MS),
  max_output_tokens: maxTokensSchema,
});
type Args = z.infer<typeof argsSchema>;

export const execCommandTool: Tool<Args, ExecResult> = {
  name: 'exec_command',
  description:
    'Runs a command in its own terminal and returns its output, or a session ID for write_stdin if it is still ' +
    'running after yield_time_ms. Each call is a new process; when it ends, its background processes end too: ' +
    'keep a server in the foreground.',
  args: argsSchema,
  result: execResultSchema,
  // The call's key is the command's id: a second run finds the command and starts nothing.
  effects: 'idempotent',
  async run(args, context) {
    const since = Date.now();
    const request = {
      code: codeOf(args),
      reader: AGENT_READER,
      tools: grantOf(context),
      yield: yieldAfter(args.yield_time_ms),
    };
    const free = {
      numbers: sessionsFor(context.key),
      open: (number: number) => execSession(context, number, IDLE_MS),
    };
    const { session, view } = await execInFree(context, free, request);
    return execResult(session, view, { since, maxTokens: args.max_output_tokens });
  },
  text: execText,
};

/** The sessions to try, in order. */
function sessionsFor(key: string): number[] {
  const digest = createHash('sha256').update(key).digest();
  return Array.from(
    { length: CANDIDATES },
    (_, index) => FIRST_SESSION + (digest.readUInt32BE(index * 4) % SESSIONS),
  );
}

/**
 * A separate process, so that nothing of it stays in the session's shell. The same in all releases: other code in a second
 * attempt would run again.
 */
function codeOf({ cmd, workdir, shell, login, tty }: Args): string {
  const command = `${quote(shell)} ${login ? '-lc' : '-c'} ${quote(cmd)}`;
  const inFolder = workdir === undefined ? '' : `cd -- ${folderWord(workdir)} && `;
  const echo = tty ? '' : 'stty -echo; ';
  return `( ${echo}${inFolder}exec ${command} )`;
}

/** The session knows where `~` is: its shell may have another HOME than the host. */
const folderWord = (path: string): string =>
  isAtHome(path) ? `"$HOME"${path === '~' ? '' : quote(path.slice(1))}` : quote(path);

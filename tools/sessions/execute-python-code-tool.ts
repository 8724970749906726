// The tool `execute_python_code`: a Python program with the packages it names, for the model or for a person.
import * as z from 'zod/mini';
import type { SessionHandle } from '../../client/session-handle';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { hostNameOf } from '../../contracts/ids';
import { parseWith } from '../../contracts/schemas/parse';
import { codeSchema, sessionNumber } from '../../contracts/schemas/session';
import { scriptSessions } from '../../contracts/agents/script-sessions';
import type { ExecRequest } from '../../contracts/schemas/session';
import { hasEnded, LONGEST_WAIT_MS, type CommandView } from '../../contracts/sessions/session';
import { closeEnded, execInFree } from './free-session';
import { withDependencies } from './python-dependencies';
import { AGENT_READER, grantOf, type Tool, type ToolContext } from '../tool';
import { factsOf, seenText, viewText } from './view-text';

/** The tool that reads the output of a running script. */
const THROUGH = 'code_execution_tool';
/** A session that was not closed at its end, because its call had already been answered, closes after this long. */
const IDLE_MS = 3_600_000;
const AT_ONCE = { firstOutputMs: 0, betweenOutputMs: 0, maxMs: 0, promptMs: 0 };

const argsSchema = z.strictObject({
  code: z
    .string()
    .check(
      z.describe(
        'Valid Python code. Third-party libraries (requests, numpy, ...) must be declared in a comment at its top: ' +
          '# dependencies = ["package-name"].',
      ),
    ),
  interactive: z._default(
    z
      .boolean()
      .check(
        z.describe(
          'True for code that needs user input, e.g. through input(): the user works with it directly, and you ' +
            'receive only a confirmation that the session ended, with the exit code.',
        ),
      ),
    false,
  ),
  session: z.optional(
    sessionNumber.check(
      z.describe('Session to run in, if it must be a certain one. Default: a separate one.'),
    ),
  ),
});
type Args = z.infer<typeof argsSchema>;

export interface ExecutePythonOptions {
  /** Whether the model reads the output and input of an interactive session. Default false. */
  interactiveTranscript?: boolean | undefined;
}

export const createExecutePythonCodeTool = ({
  interactiveTranscript = false,
}: ExecutePythonOptions = {}): Tool<Args> => ({
  name: 'execute_python_code',
  description:
    'Runs a Python program: for complex logic, data manipulation, file operations and anything that no other tool does. ' +
    'Each call is a new process, in its own terminal; several calls run at the same time. A long one ' +
    'keeps running after the answer: look at it with code_execution_tool, runtime "output" and the session that the ' +
    'answer names.',
  args: argsSchema,
  argumentRoles: { session: 'session', code: 'code' },
  codeLanguage: 'python',
  // The first candidate, which is nearly always free; the result says which one it was.
  session: ({ session }, key) => session ?? scriptSessions(key)[0],
  forPerson: ({ interactive }) => interactive,
  // The call's key is the command's id: a second run finds the command and starts nothing.
  effects: 'idempotent',
  async run({ code, interactive, session: number }, context) {
    const request = requestFor(code, context);
    const free = {
      numbers: number === undefined ? scriptSessions(context.key) : [number],
      open: (candidate: number) => sessionOf(context, candidate),
    };
    const yielding = interactive ? AT_ONCE : context.settings.yield;
    const reader = interactive ? {} : { reader: AGENT_READER };
    const command = { ...request, ...reader, ...(yielding && { yield: yielding }) };
    const { session, view: first } = await execInFree(context, free, command);
    const view = interactive ? await ended(session, first) : first;
    if (number === undefined && hasEnded(view)) await closeEnded(session);
    if (!interactive) return seenText(context, view, { through: THROUGH });
    context.sawSession?.(view);
    return confirmation(view, interactiveTranscript);
  },
});

/** Reports what is wrong with the code or its dependencies before a session is opened. */
function requestFor(code: string, context: ToolContext): ExecRequest {
  const whole = withDependencies(code);
  parseWith(codeSchema, '"code"', whole);
  return { runtime: 'python_script', code: whole, tools: grantOf(context) };
}

function sessionOf({ client, agent, settings, caller }: ToolContext, session: number): SessionHandle {
  const cwd = caller?.cwd ?? settings.cwd;
  return client.session(
    { agent, host: hostNameOf(settings), session },
    { ...(cwd && { cwd }), idleMs: IDLE_MS },
  );
}

/** Waits as long as the person takes. A second attempt of the call resumes the same wait. */
async function ended(session: SessionHandle, first: CommandView): Promise<CommandView> {
  const { commandId } = first;
  let view = first;
  for (let waits = 0; !hasEnded(view); waits += 1)
    view = await session.output({ wait: 'exit', waitMs: LONGEST_WAIT_MS }, `${commandId}/end-${waits}`);
  if (view.commandId === commandId) return view;
  const reason = 'another command has since begun in its session';
  throw new HoldfastError('unknown_outcome', { what: 'the end of the script', reason });
}

/** The line of prepare-script.py: without it the exit code alone would say nothing. */
const NOT_INSTALLED = /^dependencies_failed: .*$/m;

function confirmation(view: CommandView, transcript: boolean): string {
  const head = "The user's session with the script has ended.";
  if (transcript) return `${head} Its transcript:\n${viewText(view)}`;
  const [failure] = NOT_INSTALLED.exec(view.output) ?? [];
  const what = failure ?? 'Its output and input are not part of this result.';
  return `${head} ${what}\n[${factsOf(view)}]`;
}

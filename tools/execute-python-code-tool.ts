// The tool `execute_python_code`: a Python program with the packages it names, for the model or for a person.
import * as z from 'zod/mini';
import type { SessionHandle } from '../client/session-handle';
import { HoldfastError } from '../contracts/errors';
import { LOCAL_HOST } from '../contracts/ids';
import { codeSchema, sessionNumber } from '../contracts/schemas/session';
import { scriptSessions } from '../contracts/script-sessions';
import { LONGEST_WAIT_MS, type CommandView, type ExecRequest } from '../contracts/session';
import { closeEnded, execInFree } from './free-session';
import { withDependencies } from './python-dependencies';
import { AGENT_READER, grantOf, type Tool, type ToolContext } from './tool';
import { factsOf, viewText } from './view-text';

/** The tool that looks at what still runs. */
const THROUGH = 'code_execution_tool';
/** One that has ended and was not closed, because its call had been answered before, closes after so long. */
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
          'True for code that needs user input, as through input(): the user works with it directly, and you ' +
            'receive only a confirmation that the session ended, with the exit code.',
        ),
      ),
    false,
  ),
  session: z.optional(
    sessionNumber.check(
      z.describe('Session to run in, where it must be a certain one. Default: one of its own.'),
    ),
  ),
});
type Args = z.infer<typeof argsSchema>;

export interface ExecutePythonOptions {
  /** Whether the model reads what was shown and typed in an interactive session. Default false. */
  interactiveTranscript?: boolean | undefined;
}

export const createExecutePythonCodeTool = ({
  interactiveTranscript = false,
}: ExecutePythonOptions = {}): Tool<Args> => ({
  name: 'execute_python_code',
  description:
    'Runs a Python program: for complex logic, data manipulation, file operations and whatever no other tool does. ' +
    'Each call is a new process, in a terminal of its own; several calls run at the same time. One that takes long ' +
    'goes on after the answer: look at it with code_execution_tool, runtime "output" and the session that the ' +
    'answer names.',
  args: argsSchema,
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
    const view = interactive ? await ended(session, first, context.key) : first;
    if (number === undefined && isOver(view)) await closeEnded(session);
    return interactive ? confirmation(view, interactiveTranscript) : viewText(view, THROUGH);
  },
});

/** What is wrong with the code or its dependencies is told before a session is opened. */
function requestFor(code: string, context: ToolContext): ExecRequest {
  const whole = withDependencies(code);
  const faults = codeSchema.safeParse(whole).error?.issues.map((issue) => issue.message);
  if (faults)
    throw new HoldfastError('invalid_input', { what: '"code"', got: '', allowed: faults.join('; ') });
  return { runtime: 'python_script', code: whole, tools: grantOf(context) };
}

function sessionOf({ client, agent, settings, caller }: ToolContext, session: number): SessionHandle {
  const cwd = caller?.cwd ?? settings.cwd;
  return client.session(
    { agent, host: settings.host ?? LOCAL_HOST, session },
    { ...(cwd && { cwd }), idleMs: IDLE_MS },
  );
}

const isOver = ({ state }: CommandView): boolean => state === 'exited' || state === 'lost';

/** Waits as long as the person takes. A second attempt of the call comes back to the same wait. */
async function ended(session: SessionHandle, first: CommandView, key: string): Promise<CommandView> {
  let view = first;
  for (let waits = 0; !isOver(view); waits += 1)
    view = await session.output({ wait: 'exit', waitMs: LONGEST_WAIT_MS }, `${key}/end-${waits}`);
  if (view.commandId === key) return view;
  const reason = 'another command has begun in its session since';
  throw new HoldfastError('unknown_outcome', { what: 'the end of the script', reason });
}

/** The line of prepare-script.py: without it the exit code alone would say nothing. */
const NOT_INSTALLED = /^dependencies_failed: .*$/m;

function confirmation(view: CommandView, transcript: boolean): string {
  const head = "The user's session with the script has ended.";
  if (transcript) return `${head} Its transcript:\n${viewText(view)}`;
  const [failure] = NOT_INSTALLED.exec(view.output) ?? [];
  const what = failure ?? 'What was shown and typed there is not part of this result.';
  return `${head} ${what}\n[${factsOf(view)}]`;
}

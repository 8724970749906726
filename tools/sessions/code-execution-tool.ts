// The tool `code_execution_tool`: runs code in the agent's sessions, looks at their output, resets them.
import * as z from 'zod/mini';
import { hostNameOf } from '../../contracts/ids';
import { parseWith } from '../../contracts/schemas/parse';
import { codeSchema, milliseconds, sessionNumber, waitSchema } from '../../contracts/schemas/session';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { Runtime } from '../../contracts/sessions/session';
import { AGENT_READER, grantOf, refuseOwnSession, type Tool, type ToolContext } from '../tool';
import { execCall, resetCall } from './call-id';
import { seenText } from './view-text';

const argsSchema = z.strictObject({
  runtime: z.enum(['terminal', 'python', 'nodejs', 'output', 'reset']),
  session: z._default(sessionNumber, 0),
  code: z._default(z.string(), ''),
  wait: z.optional(waitSchema),
  wait_ms: z.optional(milliseconds),
  reason: z.optional(z.string()),
});
type Args = z.infer<typeof argsSchema>;

export const codeExecutionTool: Tool<Args> = {
  name: 'code_execution_tool',
  description:
    'Runs code in a persistent terminal session. runtime "terminal" runs shell commands, "python" and "nodejs" run ' +
    'scripts, "output" shows new output of the running process (add "wait": "exit", "output", "idle", "needs_input" ' +
    'or "pattern:RE" to wait), "reset" ends whatever runs in the session. Use a different session number for each ' +
    'thing that should run at the same time. Before you run a script, install what it imports with "terminal" ' +
    '(pip install NAME, npm install NAME); if a module is missing after all, the result names its package.',
  args: argsSchema,
  argumentRoles: { runtime: 'runtime', session: 'session', code: 'code' },
  session: ({ session }) => session,
  effects: 'idempotent',
  async run(args, context) {
    const { runtime, session, reason, wait, wait_ms: waitMs } = args;
    if (runtime !== 'output' || wait) refuseOwnSession(context, session);
    const shell = sessionOf(context, session);
    if (runtime === 'output') {
      const waiting = { ...(wait && { wait }), ...(waitMs !== undefined && { waitMs }) };
      const seen = shell.output({ reader: AGENT_READER, ...waiting }, context.key);
      return seen.then((view) => seenText(context, view)).catch(unlessUnused(session));
    }
    if (runtime === 'reset') {
      const ended = resetCall(shell, { ...(reason && { reason }) }, context);
      return ended.then((view) => seenText(context, view)).catch(unlessUnused(session));
    }
    return run(args, runtime, context);
  },
};

/** A session that was never used is no mistake: it is as one in which nothing was run. */
const unlessUnused =
  (session: number) =>
  (err: unknown): string => {
    if (err instanceof HoldfastError && err.code === 'not_found')
      return `[nothing was run yet; session ${session}]`;
    throw err;
  };

async function run({ session, code }: Args, runtime: Runtime, context: ToolContext): Promise<string> {
  parseWith(codeSchema, '"code"', code);
  const shell = sessionOf(context, session);
  try {
    const { yield: yielding } = context.settings;
    const tools = grantOf(context);
    const request = { runtime, code, reader: AGENT_READER, tools, ...(yielding && { yield: yielding }) };
    return seenText(context, await execCall(shell, request, context));
  } catch (err) {
    // Shows the model what keeps the session busy; nothing was typed into it.
    throw await shell.withRecent(err, `${context.key}/recent`);
  }
}

const sessionOf = (
  { client, agent, settings }: ToolContext,
  session: number,
): ReturnType<typeof client.session> =>
  client.session({ agent, host: hostNameOf(settings), session }, settings.cwd ? { cwd: settings.cwd } : {});

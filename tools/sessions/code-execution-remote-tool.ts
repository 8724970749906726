// The tool `code_execution_remote`: like `code_execution_tool`, on a machine that a person has connected. Never falls
// back to another host.
import * as z from 'zod/mini';
import type { SessionHandle } from '../../client/session-handle';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { hostNameOf } from '../../contracts/ids';
import { parseWith } from '../../contracts/schemas/parse';
import { codeSchema, sessionNumber } from '../../contracts/schemas/session';
import type { HostState } from '../../contracts/schemas/remote-hosts';
import type { ExecRequest } from '../../contracts/schemas/session';
import { execCall, placeOfCall, resetCall } from './call-id';
import { AGENT_READER, grantOf, refuseOwnSession, type Tool, type ToolContext } from '../tool';
import { REMOTE_TOOL, viewText } from './view-text';

const argsSchema = z.strictObject({
  runtime: z.enum(['terminal', 'python', 'nodejs', 'output', 'reset']),
  session: z._default(sessionNumber, 0),
  code: z._default(z.string(), ''),
  reset: z._default(
    z.boolean({
      error: (issue) => `got ${JSON.stringify(issue.input)}, allowed true or false, without quotes`,
    }),
    false,
  ),
  reason: z.optional(z.string()),
});
type Args = z.infer<typeof argsSchema>;

export const codeExecutionRemoteTool: Tool<Args> = {
  name: REMOTE_TOOL,
  description:
    'Runs code on the machine that a person has connected ("my machine", "the connected terminal", "not on the ' +
    'server"), in a persistent terminal session there. runtime "terminal", "python" and "nodejs" need "code"; ' +
    '"output" shows new output of the running process; "reset" ends whatever runs in the session (give a "reason"). ' +
    '"reset": true beside "code" ends it and runs the code in a fresh shell. Paths and relative paths are that ' +
    "machine's. When it says that no host is connected, or that the host does not allow it, tell the user; do not " +
    'use another tool instead.',
  args: argsSchema,
  // No `session`: it is not on the agent's own host.
  argumentRoles: { runtime: 'runtime', session: 'session', code: 'code' },
  effects: 'idempotent',
  async run(args, context) {
    const { runtime, session, code, reset, reason } = args;
    const mutates = runtime !== 'output' && runtime !== 'reset';
    if (mutates) parseWith(codeSchema, '"code"', code);
    else if (reset)
      throw invalid(
        '"reset"',
        'true',
        `true beside runtime terminal, python or nodejs; for "${runtime}" omit it`,
      );
    const host = await hostFor(context, session, mutates ? { runtime, code, reset } : undefined);
    if (mutates && host === hostNameOf(context.settings)) refuseOwnSession(context, session);
    const shell = context.client.session({ agent: context.agent, host, session });
    const text = async (view: ReturnType<typeof shell.output>): Promise<string> =>
      `[host ${host}]\n${viewText(await view, { through: REMOTE_TOOL, host })}`;
    if (runtime === 'output') return text(shell.output({ reader: AGENT_READER }, context.key));
    if (runtime === 'reset') return text(resetCall(shell, { ...(reason && { reason }) }, context));
    const { yield: yielding } = context.settings;
    const request = { runtime, code, reset, reader: AGENT_READER, tools: grantOf(context) };
    const running = execCall(shell, { ...request, ...(yielding && { yield: yielding }) }, context);
    return text(running).catch(async (err: unknown) => {
      throw await shell.withRecent(err, `${context.key}/recent`);
    });
  },
};

/**
 * The host that the agent is bound to, or the only one that is online. A second attempt goes where the first began: by
 * then another host may be the only one.
 */
async function hostFor(
  { client, agent, settings, key, attempt }: ToolContext,
  session: number,
  request: ExecRequest | undefined,
): Promise<string> {
  if (request && attempt > 1 && settings.remoteHost === undefined) {
    const sessionOn = ({ host }: HostState): SessionHandle => client.session({ agent, host, session });
    const first = await placeOfCall(await client.hosts.list(), sessionOn, key, request);
    if (first) return first.host;
  }
  return (await client.hosts.choose(settings.remoteHost)).host;
}

const invalid = (what: string, got: string, allowed: string): HoldfastError =>
  new HoldfastError('invalid_input', { what, got, allowed });

// The tool `wait`: waits for several sessions at once, so that a model need not poll them one by one.
import * as z from 'zod/mini';
import { hostNameOf } from '../../contracts/ids';
import { milliseconds, sessionNumber, waitSchema } from '../../contracts/schemas/session';
import { MAX_SESSIONS_PER_AGENT, type WaitReason, type WaitResult } from '../../contracts/sessions/session';
import { AGENT_READER, refuseOwnSession, type Tool, type ToolContext } from '../tool';
import { viewText } from './view-text';

const DEFAULT_TIMEOUT_MS = 600_000;

const argsSchema = z.strictObject({
  sessions: z.array(sessionNumber).check(z.minLength(1), z.maxLength(MAX_SESSIONS_PER_AGENT)),
  for: z._default(waitSchema, 'exit'),
  mode: z._default(z.enum(['any', 'all']), 'all'),
  timeout_ms: z._default(milliseconds, DEFAULT_TIMEOUT_MS),
});

const REASONS: Record<WaitReason, string> = {
  exit: 'ended',
  output: 'has new output',
  idle: 'is silent',
  needs_input: 'needs input',
  pattern: 'printed it',
  timeout: 'not yet',
};

export const waitTool: Tool<z.infer<typeof argsSchema>> = {
  name: 'wait',
  description:
    'Waits for several sessions at once: "for" is "exit", "output" (more than you have seen), "idle", ' +
    '"needs_input" or "pattern:RE"; "mode" "all" or "any". Use it instead of looking repeatedly.',
  args: argsSchema,
  effects: 'read_only',
  awaits: true,
  async run({ sessions, for: wait, mode, timeout_ms: waitMs }, context) {
    for (const session of sessions) refuseOwnSession(context, session);
    const targets = await Promise.all(sessions.map((session) => readUpTo(context, session)));
    const shell = sessionOf(context, sessions[0] ?? 0);
    return waitText(await shell.wait({ sessions: targets, for: wait, mode, waitMs }, context.key));
  },
};

const sessionOf = (
  { client, agent, settings }: ToolContext,
  session: number,
): ReturnType<typeof client.session> => client.session({ agent, host: hostNameOf(settings), session });

/** Output counts from where the agent stopped reading: what came since then is new to it. */
async function readUpTo(
  context: ToolContext,
  session: number,
): Promise<{ session: number; from?: number | undefined }> {
  const { readers } = await sessionOf(context, session).state();
  return { session, from: readers[AGENT_READER] };
}

function waitText({ met, sessions }: WaitResult): string {
  const parts = sessions.map(
    ({ reason, view }) => `session ${view.session}: ${REASONS[reason]}\n${viewText(view)}`,
  );
  return [met ? 'The wait is over.' : 'The wait timed out; the commands keep running.', ...parts].join(
    '\n\n',
  );
}

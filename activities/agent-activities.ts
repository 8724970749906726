// The agent's activities: model, tools, sessions. They run on `holdfast`.
import { setTimeout as delay } from 'node:timers/promises';
import type { HoldfastClient } from '../client/holdfast-client';
import type { SessionHandle } from '../client/session-handle';
import type { AgentActivities, CloseSessionsInput } from '../contracts/activities';
import type { ModelCall, ModelReply, ParsedReply } from '../contracts/agent';
import { HoldfastError } from '../contracts/errors';
import { agentWorkflowId, parseSessionWorkflowId } from '../contracts/ids';
import { SEARCH_ATTRIBUTES, WORKFLOWS } from '../contracts/messages';
import type { ToolDescription } from '../contracts/tools';
import { findDialect } from '../models/dialects/dialects';
import type { FindProvider } from '../models/providers';
import { visibleMessages } from '../models/visible-messages';
import type { ToolRegistry } from '../tools/registry';
import { beating } from './beating';
import { fitReply } from './fit-payload';
import { TranscriptCache } from './transcript-cache';

/** An agent ends when its shells are gone; where their host is offline it does not wait for ever. */
const CLOSE_MS = 20_000;

export interface AgentDependencies {
  client: HoldfastClient;
  tools: ToolRegistry;
  findProvider: FindProvider;
}

export function createAgentActivities({ client, tools, findProvider }: AgentDependencies): AgentActivities {
  const transcripts = new TranscriptCache(client);
  return {
    callModel: (input: ModelCall) =>
      beating(async (signal): Promise<ModelReply> => {
        const { agent, model, tools: allowed, turn, earlier } = input;
        const provider = findProvider(model);
        const dialect = findDialect(input.dialect ?? provider.dialect ?? 'agent-json');
        const before = { workflowId: agentWorkflowId(agent), ...earlier };
        const messages = [...(await transcripts.read(before)), ...(await transcripts.read(turn))];
        const described = tools.describe();
        const offered = described.filter(({ name }) => allowed?.includes(name) ?? true);
        const raw = await provider.reply({
          system: dialect.instructions(offered),
          messages: dialect.messages(visibleMessages(messages)),
          ...(dialect.isNative && { tools: offered }),
          signal,
        });
        const parsed = withPlaces(dialect.parse(raw), described);
        const { usage } = raw;
        const { window } = provider;
        return fitReply({ text: raw.text, parsed, ...(usage && { usage }), ...(window && { window }) });
      }),

    closeSessions: ({ agent, host, sessions, reason }: CloseSessionsInput) =>
      beating(async () => {
        const all = new Set([...sessions, ...(await visibleSessions(client, agent, host))]);
        await Promise.all(
          [...all].map((session) => closeSession(client.session({ agent, host, session }), reason)),
        );
      }),
  };
}

/** Says of each call where it is to be run: workflows do not know the registry. */
function withPlaces(reply: ParsedReply, tools: readonly ToolDescription[]): ParsedReply {
  if (reply.kind !== 'calls') return reply;
  const onHost = new Set(tools.flatMap(({ name, runsOn }) => (runsOn === 'host' ? [name] : [])));
  const calls = reply.calls.map((call) =>
    onHost.has(call.tool) ? { ...call, runsOn: 'host' as const } : call,
  );
  return { ...reply, calls };
}

async function closeSession(session: SessionHandle, reason: string): Promise<void> {
  try {
    await session.close(reason);
    await Promise.race([session.closed(), delay(CLOSE_MS, undefined, { ref: false })]);
  } catch (err) {
    // Named by a call that opened nothing, or closed already.
    if (!(err instanceof HoldfastError) || err.code !== 'not_found') throw err;
  }
}

/** Sessions that a turn opened but could not report, because it was terminated. */
async function visibleSessions(client: HoldfastClient, agent: string, host: string): Promise<number[]> {
  const found: number[] = [];
  const query =
    `WorkflowType = "${WORKFLOWS.execSession}" AND ExecutionStatus = "Running" ` +
    `AND ${SEARCH_ATTRIBUTES.agent} = "${agent}" AND ${SEARCH_ATTRIBUTES.host} = "${host}"`;
  try {
    for await (const { workflowId } of client.temporal.workflow.list({ query })) {
      const session = parseSessionWorkflowId(workflowId)?.session;
      if (session !== undefined) found.push(session);
    }
  } catch {
    // The time-skipping test server cannot list.
  }
  return found;
}

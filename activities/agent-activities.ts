// The agent's activities: model, tools, sessions. They run on `holdfast`.
import { setTimeout as delay } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { HoldfastClient } from '../client/holdfast-client';
import type { SessionHandle } from '../client/session-handle';
import type { AgentActivities, CloseSessionsInput } from '../contracts/activities';
import type { ModelCall, ModelReply, ToolInvocation, ToolResult } from '../contracts/agent';
import { HoldfastError } from '../contracts/errors';
import { toFailure } from '../contracts/failure';
import { agentWorkflowId, parseSessionWorkflowId } from '../contracts/ids';
import { SEARCH_ATTRIBUTES, WORKFLOWS } from '../contracts/messages';
import { agentJson } from '../models/dialects/agent-json';
import type { FindProvider } from '../models/providers';
import type { ToolRegistry } from '../tools/registry';
import { fitReply, fitToolResult } from './fit-payload';
import { TranscriptCache } from './transcript-cache';

const HEARTBEAT_MS = 2_000;
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
        const { agent, model, turn, earlier } = input;
        const provider = findProvider(model);
        const before = { workflowId: agentWorkflowId(agent), ...earlier };
        const messages = [...(await transcripts.read(before)), ...(await transcripts.read(turn))];
        const system = agentJson.instructions(tools.describe());
        const { text } = await provider.reply({ system, messages, signal });
        return fitReply({ text, parsed: agentJson.parse(text) });
      }),

    callTool: ({ agent, key, call, settings }: ToolInvocation) =>
      beating(async (signal): Promise<ToolResult> => {
        const { attempt } = Context.current().info;
        return fitToolResult(await tools.call(call, { agent, key, attempt, settings, client, signal }));
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

/** Heartbeats while the work goes on and gives failures their code. */
async function beating<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(), HEARTBEAT_MS);
  try {
    return await Promise.race([work(context.cancellationSignal), context.cancelled]);
  } catch (err) {
    if (!(err instanceof HoldfastError)) throw err;
    if (!err.retryable) throw toFailure(err);
    throw ApplicationFailure.create({ type: err.code, message: err.message, details: [err.facts] });
  } finally {
    clearInterval(timer);
  }
}

// Agents, for MCP clients.
import { setTimeout as delay } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import type { AgentResult } from '../../contracts/agents/agent';
import { agentInputSchema, sendSchema, stopSchema } from '../../contracts/schemas/agent';
import { idSchema, milliseconds } from '../../contracts/schemas/session';
import { workflowAddress } from '../context';
import { asJson, operation, type Answer, type Operation } from './operation';

const agent = { agent: idSchema };
/** See the sessions. */
const PATIENCE_MS = 50_000;

function answered(result: AgentResult): Answer {
  const text =
    result.answer ?? `No answer: ${result.reason}${result.error ? `, ${result.error.message}` : ''}`;
  return { text, structured: { ...result } };
}

export const AGENT_OPERATIONS: readonly Operation[] = [
  operation({
    name: 'start_agent',
    description:
      'Starts an agent on a task, or a conversation (mode "conversation"), and returns at once. The agent continues ' +
      'without this client: "agent_result" waits for its answer, "agent_state" shows what it is doing.',
    args: z.extend(agentInputSchema, { agent: z.optional(idSchema) }),
    isReadOnly: false,
    async run({ agent: named, ...input }, context) {
      const id = named ?? `mcp-${randomUUID().slice(0, 8)}`;
      const handle = context.client.agent(id);
      await handle.start(input);
      const { workflowId } = handle;
      return asJson({ agent: id, workflowId, link: workflowAddress(context, workflowId) });
    },
  }),
  operation({
    name: 'agent_result',
    description:
      'Waits for the answer of an agent that was started on a task; "done" is false while it is working.',
    args: z.strictObject({ ...agent, waitMs: z._default(milliseconds, PATIENCE_MS) }),
    isReadOnly: true,
    async run({ agent: id, waitMs }, { client }) {
      const handle = client.agent(id);
      const over = new AbortController();
      try {
        const late = delay(waitMs, undefined, { signal: over.signal }).catch(() => undefined);
        const result = await Promise.race([handle.result(), late]);
        if (!result) return asJson({ done: false, state: await handle.state() });
        const { text, structured } = answered(result);
        return { text, structured: { done: true, ...structured } };
      } finally {
        over.abort();
      }
    },
  }),
  operation({
    name: 'send',
    description: 'Sends another message to an agent in a conversation, and returns that turn’s result.',
    args: z.extend(sendSchema, {
      ...agent,
      id: z.optional(z.string().check(z.minLength(1), z.maxLength(200))),
    }),
    isReadOnly: false,
    run: async ({ agent: id, message, id: messageId }, { client }) =>
      answered(await client.agent(id).send(message, { id: messageId })),
  }),
  operation({
    name: 'agent_state',
    description: 'Shows what an agent is doing: its status, its turns, its sessions, its last result.',
    args: z.strictObject(agent),
    isReadOnly: true,
    run: async ({ agent: id }, { client }) => asJson({ ...(await client.agent(id).state()) }),
  }),
  operation({
    name: 'stop_agent',
    description:
      'Ends an agent: its turn, its sessions with everything running in them, and the agent itself.',
    args: z.extend(stopSchema, agent),
    isReadOnly: false,
    async run({ agent: id, reason }, { client }) {
      await client.agent(id).stop(reason);
      return asJson({ agent: id, stopping: true });
    },
  }),
];

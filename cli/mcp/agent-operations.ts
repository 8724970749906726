// Agents, for MCP clients.
import { setTimeout as delay } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import type { AgentResult } from '../../contracts/agents/agent';
import { agentInputSchema, rewindSchema, sendSchema, stopSchema } from '../../contracts/schemas/agent';
import { diffQuery } from '../../contracts/schemas/http-api';
import { idSchema, milliseconds } from '../../contracts/schemas/session';
import { workflowAddress } from '../context';
import { workingFolder } from './own-session';
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
      const cwd = input.cwd ?? (input.workspace ? undefined : workingFolder(context, input.host));
      await handle.start({ ...input, ...(cwd && { cwd }) });
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
      // An agent may work for days, and be asked for each minute: no question outlives its answer.
      const asked = client.temporal.withAbortSignal(over.signal, () => handle.result());
      asked.catch(() => undefined);
      try {
        const late = delay(waitMs, undefined, { signal: over.signal }).catch(() => undefined);
        const result = await Promise.race([asked, late]);
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
    name: 'agent_steps',
    description: 'Lists the steps of an agent, and what each did to files.',
    args: z.strictObject(agent),
    isReadOnly: true,
    run: async ({ agent: id }, { client }) => asJson({ steps: await client.agent(id).workspace.steps() }),
  }),
  operation({
    name: 'agent_diff',
    description:
      'Shows what an agent changed in its files: in one step, in one turn, or from the end of one step to the end of ' +
      'another; without any of these, all of it.',
    args: z.extend(diffQuery, agent),
    isReadOnly: true,
    async run({ agent: id, ...asked }, { client }) {
      const compared = await client.agent(id).workspace.diff(asked);
      return {
        text: compared.text ?? JSON.stringify(compared.changes, null, 2),
        structured: { ...compared },
      };
    },
  }),
  operation({
    name: 'rewind_agent',
    description:
      'Brings back the files of an agent, its conversation or both as they were after a step (see "agent_steps"); ' +
      '"dryRun" only says what would change. Refused where somebody else has changed files since, unless "force".',
    args: z.extend(z.omit(rewindSchema, { id: true }), agent),
    isReadOnly: false,
    run: async ({ agent: id, to, ...options }, { client }) =>
      asJson({ ...(await client.agent(id).workspace.rewind(to, options)) }),
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

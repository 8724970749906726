// The tool `wait_for_agents`. A model's call is run by its turn, which can wait without an activity; this code is for
// scripts' calls.
import type * as z from 'zod/mini';
import { agentsWaitCallSchema } from '../../contracts/schemas/agent';
import { agentsText, type AgentsWaitResult } from '../../contracts/agents/sub-agents';
import type { JsonValue } from '../../contracts/tools/tools';
import type { Tool } from '../tool';

export const waitForAgentsTool: Tool<z.infer<typeof agentsWaitCallSchema>> = {
  name: 'wait_for_agents',
  description:
    'Waits for your sub-agents and returns {"results": {agent id: {"role", "status", "answer", "reason", ' +
    '"error", "steps"}}, "timedOut"}. "mode" is "all" (the default) or "any"; "timeout_ms" is an hour by default. ' +
    'Those that have not ended have the status "running" and continue: wait for them again. In a block of several ' +
    'calls it comes last, with the call ids of spawn_agent as references: {"agent_ids": ["$call_1"]}.',
  args: agentsWaitCallSchema,
  result: {
    jsonSchema: {
      type: 'object',
      properties: { results: { type: 'object' }, timedOut: { type: 'boolean' } },
      required: ['results', 'timedOut'],
    },
  },
  effects: 'read_only',
  awaits: true,
  inTurn: true,
  async run({ agent_ids: agentIds, mode, timeout_ms: timeoutMs }, { client, agent, key }) {
    const request = { agentIds, mode, timeoutMs };
    const { results, timedOut } = await client.agent(agent).waitForAgents(request, key);
    return { results, timedOut } as unknown as JsonValue;
  },
  text: (result) => agentsText(result as unknown as AgentsWaitResult),
};

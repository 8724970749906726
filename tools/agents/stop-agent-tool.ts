// The tool `stop_agent`: ends a sub-agent and everything below it.
import * as z from 'zod/mini';
import type { Tool } from '../tool';
import { ownSubAgent } from './sub-agent';

const argsSchema = z.strictObject({
  agent_id: z.string(),
  reason: z._default(z.string().check(z.maxLength(1_000)), 'its parent stopped it'),
});

export const stopAgentTool: Tool<z.infer<typeof argsSchema>> = {
  name: 'stop_agent',
  description: 'Ends one of your sub-agents, with its sessions and its own sub-agents.',
  args: argsSchema,
  effects: 'idempotent',
  async run({ agent_id: agentId, reason }, context) {
    const { status } = await ownSubAgent(context, agentId);
    if (status === 'ended') return `${agentId} has already ended.`;
    await context.client.agent(agentId).stop(reason);
    return `${agentId} is being stopped.`;
  },
};

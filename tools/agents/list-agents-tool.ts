// The tool `list_agents`: the sub-agents of the calling agent.
import * as z from 'zod/mini';
import type { Tool } from '../tool';
import { subAgentsOf } from './sub-agent';

const argsSchema = z.strictObject({});
const resultSchema = z.object({
  agents: z.array(
    z.object({
      agent_id: z.string(),
      role: z.string(),
      status: z.enum(['running', 'ended']),
      since: z.string(),
      /** How its last turn ended; null while it runs. */
      reason: z.nullable(z.string()),
    }),
  ),
});

export const listAgentsTool: Tool<z.infer<typeof argsSchema>, z.infer<typeof resultSchema>> = {
  name: 'list_agents',
  description:
    'Lists your sub-agents: agent id, role, whether each is running or has ended, since when and how.',
  args: argsSchema,
  result: resultSchema,
  effects: 'read_only',
  async run(_args, context) {
    const agents = await subAgentsOf(context);
    return {
      agents: agents.map(({ agentId, role, status, since, result }) => ({
        agent_id: agentId,
        role,
        status,
        since,
        reason: result?.reason ?? null,
      })),
    };
  },
};

// Who is a sub-agent of whom: an agent reaches its own, and nobody else's.
import { HoldfastError } from '../../contracts/errors';
import type { SubAgent } from '../../contracts/agent';
import type { ToolContext } from '../tool';

type Caller = Pick<ToolContext, 'client' | 'agent'>;

export const subAgentsOf = async ({ client, agent }: Caller): Promise<SubAgent[]> =>
  (await client.agent(agent).state()).agents;

/** Throws `not_found` for an agent that is none of the caller's. */
export async function ownSubAgent(caller: Caller, agentId: string): Promise<SubAgent> {
  const agents = await subAgentsOf(caller);
  const found = agents.find((one) => one.agentId === agentId);
  if (found) return found;
  const allowed = agents.map((one) => one.agentId).join(', ') || 'none: there is no sub-agent';
  const next = 'Call list_agents for those that there are.';
  throw new HoldfastError('not_found', {
    what: 'The sub-agent',
    got: JSON.stringify(agentId),
    allowed,
    next,
  });
}

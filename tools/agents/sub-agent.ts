// Who is a sub-agent of whom: an agent reaches its own, and nobody else's.
import type { SubAgent } from '../../contracts/agent';
import { findSubAgent } from '../../contracts/sub-agents';
import type { ToolContext } from '../tool';

type Caller = Pick<ToolContext, 'client' | 'agent'>;

export const subAgentsOf = async ({ client, agent }: Caller): Promise<SubAgent[]> =>
  (await client.agent(agent).state()).agents;

/** Throws `not_found` for an agent that is none of the caller's. */
export const ownSubAgent = async (caller: Caller, agentId: string): Promise<SubAgent> =>
  findSubAgent(await subAgentsOf(caller), agentId);

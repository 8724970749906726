// Checks whose sub-agent an agent is: an agent can reach only its own.
import type { SubAgent } from '../../contracts/agents/agent';
import { findSubAgent } from '../../contracts/agents/sub-agents';
import type { ToolContext } from '../tool';

type Caller = Pick<ToolContext, 'client' | 'agent'>;

export const subAgentsOf = async ({ client, agent }: Caller): Promise<SubAgent[]> =>
  (await client.agent(agent).ownState()).agents;

/** Throws `not_found` unless the agent is one of the caller's. */
export const ownSubAgent = async (caller: Caller, agentId: string): Promise<SubAgent> =>
  findSubAgent(await subAgentsOf(caller), agentId);

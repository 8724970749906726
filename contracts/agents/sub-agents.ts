// Data about sub-agents that crosses process boundaries. Plain JSON, no I/O.
import { beginningOf } from '../text/well-formed';
import type { AgentResult, SubAgent, TurnLimits, Usage } from './agent';
import { HoldfastError } from '../errors/holdfast-error';
import { fnv1a } from '../hash';
import type { AgentsWaitRequest } from '../schemas/agent';
import type { ChangeCounts } from '../workspaces/checkpoints';

/** The agent's answer to the turn; `fault`: that one was refused. */
export interface AgentsSpawnedSignal {
  agents: SpawnedAgent[];
}

export type SpawnedAgent =
  | { key: string; agentId: string; fault?: undefined }
  | { key: string; agentId?: undefined; fault: { code: string; message: string } };

/** What the turn of the caller may still use of its limits. */
export interface BudgetLeft {
  tokens?: number | undefined;
  costUsd?: number | undefined;
}

/** Its limits, and no more than the rest of its caller's budget. */
export const withinBudget = (
  limits: Partial<TurnLimits>,
  { tokens, costUsd }: BudgetLeft = {},
): Partial<TurnLimits> => ({
  ...limits,
  ...(tokens !== undefined && { tokens: Math.min(tokens, limits.tokens ?? tokens) }),
  ...(costUsd !== undefined && { costUsd: Math.min(costUsd, limits.costUsd ?? costUsd) }),
});

/** What a parent keeps about a sub-agent, also across continue-as-new. */
export interface SubAgentRecord extends Omit<SubAgent, 'isCounted'> {
  key: string;
  /** Hash of its role and task. */
  hash: string;
  /** How many sub-agents it may start itself. */
  grant: number;
  /** Whether its usage counts towards a turn that has waited for it. */
  isTold: boolean;
}

/** `running` has no result yet: the wait can be repeated. */
export type SubAgentOutcome =
  | { role: string; status: 'running' }
  | ({
      role: string;
      status: 'ended';
      /** What it changed in a workspace of its own. */
      changes?: ChangeCounts;
      /** `not_left`: it was to work in a workspace of its own, and what it changed there is not known. */
      workspace?: 'not_left';
      /** Its folder, if that stays: no checkpoint holds some of the files there. */
      folder?: string;
    } & Pick<AgentResult, 'answer' | 'reason' | 'error' | 'steps'>);

export interface AgentsWaitResult {
  /** By agent id. */
  results: Record<string, SubAgentOutcome>;
  timedOut: boolean;
  /** Usage of the agents that ended, of each until a turn has waited for it: it counts towards that turn. */
  usage?: Usage | undefined;
}

/** A turn asks its agent to be notified when sub-agents end. */
export interface AwaitAgentsSignal extends AgentsWaitRequest {
  key: string;
  turn: string;
}

/** The agent's answer to the turn; `fault`: the wait was refused. */
export interface AgentsEndedSignal {
  key: string;
  result?: AgentsWaitResult;
  fault?: { code: string; message: string };
}

/** A sub-agent notifies its parent that it has ended, also if the parent has continued as new. */
export interface AgentEndedSignal {
  agentId: string;
  result: AgentResult;
}

/** The sub-agent with this id. Throws `not_found`, naming those that exist. */
export function findSubAgent<T extends Pick<SubAgent, 'agentId'>>(agents: readonly T[], agentId: string): T {
  const found = agents.find((one) => one.agentId === agentId);
  if (found) return found;
  const allowed = agents.map((one) => one.agentId).join(', ') || 'none: there are no sub-agents';
  const next = 'Call list_agents to see which ones exist.';
  throw new HoldfastError('not_found', {
    what: 'The sub-agent',
    got: JSON.stringify(agentId),
    allowed,
    next,
  });
}

/** The result of a wait, as the model reads it. */
export const agentsText = (result: Omit<AgentsWaitResult, 'usage'>): string =>
  JSON.stringify(result, null, 2);

const MAX_PARENT_CHARS = 34;
const MAX_ROLE_CHARS = 20;
/** `-` and eight digits of a hash. */
const MARK_CHARS = 9;
const CUT = /^-[0-9a-f]{8}-/;

/** An id that shows the sub-agent's parent and role; `n` distinguishes it from its siblings. */
export function subAgentId(parent: string, role: string, n: number): string {
  const plain = role.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  const slug = beginningOf(plain, MAX_ROLE_CHARS).replace(/^-|-$/g, '');
  return `${shortened(parent)}-${slug || 'agent'}-${n}`;
}

/** Whether the agent is below `parent`, judging by its id; of a long parent id only the beginning is left in it. */
export function isBelow(agent: string, parent: string): boolean {
  if (!/-\d+$/.test(agent)) return false;
  if (agent.startsWith(`${parent}-`)) return true;
  const kept = beginningOf(parent, MAX_PARENT_CHARS - MARK_CHARS);
  return agent.startsWith(kept) && CUT.test(agent.slice(kept.length));
}

/** An id that is too long is cut, and ends with a hash of the whole. */
function shortened(id: string): string {
  if (id.length <= MAX_PARENT_CHARS) return id;
  return `${beginningOf(id, MAX_PARENT_CHARS - MARK_CHARS)}-${fnv1a(id).toString(16).padStart(8, '0')}`;
}

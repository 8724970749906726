// Sums the usage that agents report of themselves.
import type { AgentState, Usage } from '../../contracts/agents/agent';
import { addUsage } from '../../contracts/models/usage';
import type { UsageLine, UsageReport } from '../../contracts/gateway/api';
import type { AgentEntry } from '../../client/agents/agent-directory';
import { mayUse, type Caller } from '../access/grants';
import type { GatewayContext } from '../gateway-context';
import { eachOf } from '../each-of';

const MAX_AGENTS = 1_000;
const AT_ONCE = 8;

/** What ended agents have said: they say nothing else any more. Shared by all requests, by run. */
const ended = new Map<string, AgentState | undefined>();
const MAX_REMEMBERED = 10_000;

export async function usageReport(context: GatewayContext, caller: Caller): Promise<UsageReport> {
  const agents: AgentEntry[] = [];
  for await (const entry of context.client.agents.list({ ended: true })) {
    if (mayUse(caller, entry.id)) agents.push(entry);
    if (agents.length === MAX_AGENTS) break;
  }
  const states = await eachOf(agents, AT_ONCE, (entry) => stateOf(context, entry));
  const known = agents.flatMap((entry, index) => {
    const state = states[index];
    return state ? [{ entry, state }] : [];
  });
  // An agent's own usage includes that of sub-agents that it waited for: only topmost ones are added up.
  const below = new Set(known.flatMap(({ state }) => state.agents.map(({ agentId }) => agentId)));
  const topmost = known.filter(({ entry }) => !below.has(entry.id));
  return {
    total: sum(topmost.map(({ state }) => state.usage)),
    byAgent: lines(known, ({ entry }) => entry.id),
    byTree: lines(topmost, ({ entry }) => entry.id),
    byModel: lines(topmost, ({ state }) => state.model),
    byDay: lines(topmost, ({ entry }) => entry.startedAt.slice(0, 10)),
  };
}

async function stateOf(
  context: GatewayContext,
  { id, runId, end }: AgentEntry,
): Promise<AgentState | undefined> {
  if (end && ended.has(runId)) return ended.get(runId);
  const state = await context.client
    .agent(id)
    .ownState()
    .catch(() => undefined);
  if (end && state?.runId === runId) {
    const [oldest] = ended.keys();
    if (ended.size >= MAX_REMEMBERED && oldest !== undefined) ended.delete(oldest);
    ended.set(runId, state);
  }
  return state;
}

interface Known {
  entry: AgentEntry;
  state: AgentState;
}

function lines(known: Known[], keyOf: (one: Known) => string): UsageLine[] {
  const groups = new Map<string, (Usage | null)[]>();
  for (const one of known) {
    if (!one.state.usage) continue;
    const key = keyOf(one);
    groups.set(key, [...(groups.get(key) ?? []), one.state.usage]);
  }
  return [...groups].map(([key, usages]) => ({ key, ...sum(usages) }));
}

const sum = (usages: (Usage | null)[]): Usage =>
  usages.reduce<Usage | null>(addUsage, null) ?? {
    inputTokens: 0,
    outputTokens: 0,
    cachedTokens: 0,
    costUsd: 0,
  };

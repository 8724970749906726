// Sums the usage that agents report of themselves.
import type { AgentState, SubAgent, Usage } from '../../contracts/agents/agent';
import { addUsage } from '../../contracts/models/usage';
import type { UsageLine, UsageReport } from '../../contracts/gateway/api';
import type { AgentEntry } from '../../client/agents/agent-directory';
import { inTime } from '../../client/agents/agent-overview';
import { firstRunOf } from '../../client/agents/reset-runs';
import { describeWorkflow } from '../../client/delivery/list-workflows';
import type { HoldfastClient } from '../../client/holdfast-client';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { mayUse, type Caller } from '../access/grants';
import type { GatewayContext } from '../gateway-context';
import { eachOf } from '../each-of';
import { RememberedRuns } from '../remembered-runs';

const MAX_AGENTS = 1_000;
/** Among the agents of others, a caller's are looked for in the latest: the server may keep any number. */
const MAX_LOOKED_AT = 10_000;
const AT_ONCE = 32;
/** Each has three seconds, too. Those that have ended are remembered: the next request gets further. */
const ASK_MS = 10_000;

/** What a report uses of an agent's state: texts of thousands of ended runs would fill the memory. */
interface Used extends Pick<AgentState, 'usage' | 'model'> {
  agents: Pick<SubAgent, 'agentId' | 'isCounted'>[];
}

/** What ended runs have said: they say nothing else any more. Shared by all requests, like the first runs of others. */
const ended = new RememberedRuns<Used>();
const firstRuns = new RememberedRuns<string>();

export async function usageReport(
  { client }: Pick<GatewayContext, 'client'>,
  caller: Caller,
): Promise<UsageReport> {
  const agents: AgentEntry[] = [];
  let lookedAt = 0;
  for await (const entry of client.agents.list({ ended: true })) {
    if (mayUse(caller, entry.id)) agents.push(entry);
    if (agents.length === MAX_AGENTS || ++lookedAt === MAX_LOOKED_AT) break;
  }
  const until = Date.now() + ASK_MS;
  const runs = await withoutReset(client, agents, until);
  const states = await eachOf(runs, AT_ONCE, (entry) => stateOf(client, entry, until));
  const known = runs.flatMap((entry, index) => {
    const state = states[index];
    return state && state !== GONE ? [{ entry, state }] : [];
  });
  const silent = runs.filter((_, index) => !states[index]).map(({ id }) => id);
  // An agent's own usage includes that of sub-agents that its turns waited for: only the others are added up.
  const counted = ({ state }: Known): string[] =>
    state.agents.flatMap(({ agentId, isCounted = true }) => (isCounted ? [agentId] : []));
  const below = new Set(known.flatMap(counted));
  const topmost = known.filter(({ entry }) => !below.has(entry.id));
  return {
    total: sum(topmost.map(({ state }) => state.usage)),
    byAgent: lines(known, ({ entry }) => entry.id),
    byTree: lines(topmost, ({ entry }) => entry.id),
    byModel: lines(topmost, ({ state }) => state.model),
    byDay: lines(topmost, ({ entry }) => entry.startedAt.slice(0, 10)),
    unanswered: [...new Set(silent)].sort(),
  };
}

/**
 * Without those in whose place another goes on since a reset: it has what they had used up to there. Only runs that share
 * their id are looked up.
 */
async function withoutReset(
  { temporal }: HoldfastClient,
  newestFirst: AgentEntry[],
  until: number,
): Promise<AgentEntry[]> {
  const perId = new Map<string, number>();
  for (const { id } of newestFirst) perId.set(id, (perId.get(id) ?? 0) + 1);
  const firsts = await eachOf(newestFirst, AT_ONCE, async ({ id, workflowId, runId }) => {
    const remembered = firstRuns.get(runId);
    if (remembered !== undefined || perId.get(id) === 1 || Date.now() >= until) return remembered ?? runId;
    const first = await inTime(temporal, async () =>
      firstRunOf(await describeWorkflow(temporal, workflowId, runId)),
    );
    if (first !== null) firstRuns.set(runId, first);
    return first ?? runId;
  });
  const counted = new Set<string>();
  return newestFirst.filter((_, index) => {
    const first = firsts[index] ?? '';
    const isNewest = !counted.has(first);
    counted.add(first);
    return isNewest;
  });
}

/** Of this run: under the same id another agent may have been started since. Null if it does not answer in time. */
async function stateOf(
  client: HoldfastClient,
  { id, runId, end }: AgentEntry,
  until: number,
): Promise<Used | typeof GONE | null> {
  const remembered = end && ended.get(runId);
  if (remembered) return remembered;
  if (Date.now() >= until) return null;
  const ask = (): Promise<Used | typeof GONE> => client.agent(id).ownState(runId).then(usedIn, goneIfNotKept);
  const state = await inTime(client.temporal, ask);
  if (end && state && state !== GONE) ended.set(runId, state);
  return state;
}

const usedIn = ({ usage, model, agents }: AgentState): Used => ({
  ...{ usage, model },
  agents: agents.map(({ agentId, isCounted }) => ({ agentId, isCounted })),
});

/** The server no longer keeps it: what it has used is not known any more. */
const GONE = 'gone';

function goneIfNotKept(err: unknown): typeof GONE {
  if (err instanceof HoldfastError && err.code === 'not_found') return GONE;
  throw err;
}

interface Known {
  entry: AgentEntry;
  state: Used;
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

// Which agents the tree of one asks.
import type { AgentTree } from '../../../contracts/gateway/api';
import type { Route } from '../../../gateway/http/route';
import { AGENT_ROUTES } from '../../../gateway/routes/agent-routes';

const usage = { inputTokens: 7, outputTokens: 0, cachedTokens: 0, costUsd: null };
const known = (agentId: string): object => ({
  ...{ agentId, role: 'helper', status: 'ended', since: 's', result: { reason: 'answered', usage } },
});
const BELOW: Record<string, string[]> = { 'team-a': ['team-a.1', 'other'], other: ['other.1'] };

test('the tree of an agent asks no agent that the token does not cover, and tells what its parent knows', async () => {
  const asked: string[] = [];
  const agent = (id: string): object => {
    const state = (): Promise<object> => {
      asked.push(id);
      return Promise.resolve({ status: 'idle', usage: null, agents: (BELOW[id] ?? []).map(known) });
    };
    return { presentState: state, ownState: state };
  };
  const route = AGENT_ROUTES.find(({ name }) => name === 'getAgentTree') as unknown as Route;
  const caller = { id: 'v', name: 'v', role: 'viewer', agents: ['team-a*'], expiresAt: null };
  const given = { params: { agent: 'team-a' }, context: { client: { agent } }, caller };
  const { agents } = (await route.run(given as never)) as AgentTree;
  expect(asked).toEqual(['team-a', 'team-a.1']);
  expect(agents).toMatchObject([
    { agent: 'team-a.1', agents: [] },
    { agent: 'other', status: 'ended', reason: 'answered', usage, agents: [] },
  ]);
});

// Hosts, tools and usage.
import { hostState } from '../../contracts/schemas/answers';
import * as shapes from '../../contracts/schemas/http-api';
import type { RegistryRecord } from '../../contracts/tools/registry-record';
import { route } from '../http/route';
import { usageReport } from '../usage/usage-report';

const tag = 'facts';

const hosts = route(
  {
    name: 'listHosts',
    ...{ method: 'GET', path: '/v1/hosts', tag, role: 'viewer' },
    summary: 'Hosts that have connected, online or not; without the machine of the agents',
    answer: shapes.hostList,
  },
  async ({ context }) => {
    const { hosts, unanswered } = await context.client.hosts.listAnswering();
    return { items: hosts, next: null, unanswered };
  },
);

const host = route(
  {
    name: 'getHost',
    ...{ method: 'GET', path: '/v1/hosts/{host}', tag, role: 'viewer' },
    summary: 'One host',
    answer: hostState,
  },
  ({ params, context }) => context.client.hosts.state(params.host),
);

const tools = route(
  {
    name: 'listTools',
    ...{ method: 'GET', path: '/v1/tools', tag, role: 'viewer' },
    summary: 'The tools of the data folder’s worker, its MCP servers, and what is wrong with them',
    answer: shapes.registry,
  },
  async ({ context }) => {
    const { tools: all, servers, faults } = context.registry() ?? NO_WORKER;
    return { tools: all, servers, faults };
  },
);

const NO_WORKER: RegistryRecord = {
  tools: [],
  servers: [],
  faults: ['No worker of this data folder is running.'],
};

const usage = route(
  {
    name: 'getUsage',
    ...{ method: 'GET', path: '/v1/usage', tag, role: 'viewer' },
    summary: 'Tokens and dollars, by agent, tree, model and day',
    description:
      'Of the latest 1,000 agents that the server still has. Days are those on which an agent began (UTC). `unanswered` are ' +
      'the ids of agents that did not answer in time: what they have used is missing in the sums.',
    answer: shapes.usageReport,
  },
  ({ context, caller }) => usageReport(context, caller),
);

export const FACT_ROUTES = [hosts, host, tools, usage];

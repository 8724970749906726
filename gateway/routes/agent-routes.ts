// Agents: start, list, look, send, end.
import { createHash, randomUUID } from 'node:crypto';
import type { AgentInput } from '../../contracts/schemas/agent';
import type { AgentState, SubAgent } from '../../contracts/agents/agent';
import type { AgentTree } from '../../contracts/gateway/api';
import { beginningOf } from '../../contracts/text/well-formed';
import { agentState, transcriptPage } from '../../contracts/schemas/answers';
import * as shapes from '../../contracts/schemas/http-api';
import { mayUse, requireAgent, requireOwnContext, type Caller } from '../access/grants';
import type { GatewayContext } from '../gateway-context';
import { route } from '../http/route';

const tag = 'agents';

/** The same start gets the same id: one that is lost on its way back can be sent again. */
const newId = (key: string | undefined): string =>
  `agent-${key === undefined ? randomUUID().slice(0, 13) : createHash('sha256').update(key).digest('hex').slice(0, 16)}`;

const MAX_ORIGIN_CHARS = 54;

/** An agent that goes on with another one's conversation is named after it. */
export const nameAfter = (origin: string, key: string = randomUUID()): string => {
  // One that is itself named so keeps the origin's name.
  const name = beginningOf(origin.replace(/-[0-9a-f]{6}$/, ''), MAX_ORIGIN_CHARS);
  return `${name}-${createHash('sha256').update(`${origin} ${key}`).digest('hex').slice(0, 6)}`;
};

const list = route(
  {
    name: 'listAgents',
    ...{ method: 'GET', path: '/v1/agents', tag, role: 'viewer' },
    summary: 'List agents, newest first',
    description:
      'A page may be short, even empty, and still have a next one. It may miss what began a second ago.',
    query: shapes.agentsQuery,
    answer: shapes.agentList,
  },
  async ({ query, context, caller }) => {
    const page = await context.client.agents.page(query);
    return { ...page, items: page.items.filter(({ id }) => mayUse(caller, id)) };
  },
);

const start = route(
  {
    name: 'startAgent',
    ...{ method: 'POST', path: '/v1/agents', tag, role: 'operator', status: 201, takesKey: true },
    summary: 'Start an agent',
    description: 'The header Idempotency-Key makes it the same start when it is sent again.',
    body: shapes.startBody,
    answer: shapes.started,
    example: { id: 'builder', task: 'Say hello.', model: 'scripted:replies.yaml' },
  },
  async ({ body: { id, ...input }, key, caller, context }) => {
    const agent = id ?? newId(key);
    requireAgent(caller, agent);
    requireOwnContext(caller, input.context);
    await context.client.agent(agent).start(input, key);
    return { agent };
  },
);

const look = route(
  {
    name: 'getAgent',
    ...{ method: 'GET', path: '/v1/agents/{agent}', tag, role: 'viewer' },
    summary: 'What an agent is doing, with its turn and its sessions',
    answer: shapes.agentOverview,
  },
  ({ params, context }) => context.client.agent(params.agent).state(),
);

const tree = route(
  {
    name: 'getAgentTree',
    ...{ method: 'GET', path: '/v1/agents/{agent}/tree', tag, role: 'viewer' },
    summary: 'An agent with those below it',
    answer: shapes.agentTree,
  },
  async ({ params: { agent }, context, caller }) => {
    const state = await context.client.agent(agent).presentState();
    const { status, since = null, lastResult, usage, agents } = state;
    const isOver = status === 'ended';
    return {
      ...{ agent, role: null, status: isOver ? 'ended' : 'running', since },
      reason: isOver ? (lastResult?.reason ?? null) : null,
      usage,
      agents: await Promise.all(agents.map((one) => below(context, caller, one))),
    } satisfies AgentTree;
  },
);

/** One that no longer answers, or that the token does not cover, is listed as its parent knows it. */
async function below(context: GatewayContext, caller: Caller, known: SubAgent): Promise<AgentTree> {
  const { agentId, role, status, since, result } = known;
  const ask = (): Promise<AgentState> => context.client.agent(agentId).ownState();
  const state = mayUse(caller, agentId) ? await ask().catch(() => undefined) : undefined;
  return {
    ...{ agent: agentId, role, status, since },
    reason: result?.reason ?? null,
    usage: state?.usage ?? result?.usage ?? null,
    agents: await Promise.all((state?.agents ?? []).map((one) => below(context, caller, one))),
  };
}

const send = route(
  {
    name: 'sendMessage',
    ...{
      method: 'POST',
      path: '/v1/agents/{agent}/messages',
      tag,
      role: 'operator',
      status: 202,
      takesKey: true,
    },
    summary: 'Send a message; the answer comes as an event',
    description: '`queue` waits for the running turn, `interrupt` replaces it.',
    body: shapes.messageBody,
    answer: shapes.accepted,
    example: { message: 'and now?', mode: 'queue' as const },
  },
  async ({ params, body: { message, mode }, key, context }) => {
    const id = key ?? randomUUID();
    const agent = context.client.agent(params.agent);
    // A signal to an agent that does not exist would be an error of the server's; to one that has ended, too.
    await agent.post(message, { mode, id });
    return { id };
  },
);

const interrupt = route(
  {
    name: 'interruptAgent',
    ...{ method: 'POST', path: '/v1/agents/{agent}/interrupt', tag, role: 'operator', takesKey: true },
    summary: 'End the turn before its next step; the conversation continues',
    answer: agentState,
  },
  ({ params, key, context }) => context.client.agent(params.agent).interrupt(key),
);

const recover = route(
  {
    name: 'recoverAgent',
    ...{ method: 'POST', path: '/v1/agents/{agent}/recover', tag, role: 'operator', takesKey: true },
    summary: 'End the turn and all that runs in the sessions; the conversation continues',
    body: shapes.reasonBody,
    answer: agentState,
    example: { reason: 'stuck' },
  },
  ({ params, body, key, context }) => context.client.agent(params.agent).recover(body.reason, key),
);

const stop = route(
  {
    name: 'stopAgent',
    ...{ method: 'POST', path: '/v1/agents/{agent}/stop', tag, role: 'operator', status: 202 },
    summary: 'End the turn, close the sessions, end the agent',
    body: shapes.reasonBody,
    answer: shapes.accepted,
    example: { reason: 'enough' },
  },
  async ({ params: { agent }, body, context }) => {
    await context.client.agent(agent).stop(body.reason);
    return { id: agent };
  },
);

const fork = route(
  {
    name: 'forkAgent',
    ...{
      method: 'POST',
      path: '/v1/agents/{agent}/fork',
      tag,
      role: 'operator',
      status: 201,
      takesKey: true,
    },
    summary: 'Start another agent with the beginning of this conversation',
    body: shapes.forkBody,
    answer: shapes.started,
    example: { at: 0 },
  },
  async ({ params, body: { id, at, files, ...own }, key, caller, context }) => {
    const agent = id ?? nameAfter(params.agent, key);
    requireAgent(caller, agent);
    requireOwnContext(caller, own.context);
    await context.client.agent(params.agent).fork(agent, { at, files, ...(own as Partial<AgentInput>) }, key);
    return { agent };
  },
);

const transcript = route(
  {
    name: 'getTranscript',
    ...{ method: 'GET', path: '/v1/agents/{agent}/transcript', tag, role: 'viewer' },
    summary: 'The messages of the turns that have ended, in pages',
    query: shapes.transcriptQuery,
    answer: transcriptPage,
  },
  ({ params, query: { from, limit }, context }) => context.client.agent(params.agent).transcript(from, limit),
);

export const AGENT_ROUTES = [list, start, look, tree, send, interrupt, recover, stop, fork, transcript];

// What a person does about an agent that stopped without what was asked for: go on, or put it away.
import { randomUUID } from 'node:crypto';
import { retryAgent } from '../../client/agents/retry-agent';
import * as shapes from '../../contracts/schemas/http-api';
import { requireAgent } from '../access/grants';
import { route } from '../http/route';
import { nameAfter } from './agent-routes';

const tag = 'agents';

const retry = route(
  {
    name: 'retryAgent',
    ...{
      method: 'POST',
      path: '/v1/agents/{agent}/retry',
      tag,
      role: 'operator',
      status: 201,
      takesKey: true,
    },
    summary: 'Go on where an agent stopped without what was asked for',
    description:
      'Without a `message` it gets the failed message again or, if that turn took steps, is asked to go on. An agent that ' +
      'has ended takes no message: another one goes on with its conversation, and the answer names that one. `runId` is ' +
      'the run that is meant.',
    body: shapes.retryBody,
    answer: shapes.started,
    example: { message: 'Try it without the network.' },
  },
  async ({ params, body: { message, runId, id }, key = randomUUID(), caller, context }) => {
    const agent = context.client.agent(params.agent);
    const newId = id ?? nameAfter(params.agent, key);
    requireAgent(caller, newId);
    const { runId: present, isOver } = await agent.run();
    const next = await retryAgent(agent, { message, runId, key, newId });
    if (isOver) await context.dismissed.add(runId ?? present);
    return { agent: next };
  },
);

const dismiss = route(
  {
    name: 'dismissFailure',
    ...{ method: 'POST', path: '/v1/agents/{agent}/dismiss', tag, role: 'operator', status: 202 },
    summary: 'Put away that an agent stopped without what was asked for: the inbox no longer shows it',
    description:
      '`runId` and `turn` are what the inbox shows as `run`. If another turn was the last, nothing happens.',
    body: shapes.dismissBody,
    answer: shapes.accepted,
    example: { runId: '0199c1d2-7d5e-7c3a-9a52-3f2b9c0de111' },
  },
  async ({ params, body: { runId, turn }, context }) => {
    const agent = context.client.agent(params.agent);
    const present = await agent.run();
    // Of an open one, the run may have continued as new since.
    if (present.isOver) await context.dismissed.add(runId);
    else await agent.dismiss(turn);
    return { id: params.agent };
  },
);

export const FAILURE_ROUTES = [retry, dismiss];

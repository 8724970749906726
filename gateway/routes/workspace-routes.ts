// What an agent did to files, step by step, and bringing an earlier state back.
import { randomUUID } from 'node:crypto';
import * as shapes from '../../contracts/schemas/http-api';
import { rewindResult } from '../../contracts/schemas/checkpoint-shapes';
import { route } from '../http/route';

const tag = 'files';

const steps = route(
  {
    name: 'listSteps',
    ...{ method: 'GET', path: '/v1/agents/{agent}/steps', tag, role: 'viewer' },
    summary: 'The steps of an agent, the oldest first, with what each did to files',
    answer: shapes.stepList,
  },
  async ({ params, context }) => ({
    items: await context.client.agent(params.agent).workspace.steps(),
    next: null,
  }),
);

const diff = route(
  {
    name: 'getDiff',
    ...{ method: 'GET', path: '/v1/agents/{agent}/diff', tag, role: 'viewer' },
    summary: 'What an agent changed in its files',
    description:
      'Of one step, of one turn, or from the end of one step to the end of another. Default: all of it.',
    query: shapes.diffQuery,
    answer: shapes.comparison,
  },
  ({ params, query, context }) => context.client.agent(params.agent).workspace.diff(query),
);

const rewind = route(
  {
    name: 'rewindAgent',
    ...{ method: 'POST', path: '/v1/agents/{agent}/rewind', tag, role: 'operator', takesKey: true },
    summary: 'Bring back the files, the conversation or both as they were after a step',
    description:
      'Only while no turn runs. Refused with `workspace_changed` where somebody else has changed files since, unless ' +
      '`force` is set: theirs are in a checkpoint first. `dryRun` changes nothing.',
    body: shapes.rewindBody,
    answer: rewindResult,
    example: { to: 4, what: 'both' as const, dryRun: true },
  },
  ({ params, body: { to, ...options }, key, context }) =>
    context.client.agent(params.agent).workspace.rewind(to, options, key ?? randomUUID()),
);

export const WORKSPACE_ROUTES = [steps, diff, rewind];

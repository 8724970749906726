// What happened to an agent, and when.
import * as shapes from '../../contracts/schemas/http-api';
import { route } from '../http/route';
import { sharedTimeLine } from '../time-line/shared-time-line';

const timeLine = route(
  {
    ...{ method: 'GET', path: '/v1/agents/{agent}/timeline', tag: 'agents', role: 'viewer' },
    name: 'getTimeLine',
    summary: 'What happened to an agent and when, oldest first',
    description:
      'From the histories of its workflows. "truncated": older entries are missing. "message" is an index in the transcript.',
    answer: shapes.timeLine,
  },
  ({ params: { agent }, context }) => sharedTimeLine(context, agent),
);

export const TIME_LINE_ROUTES = [timeLine];

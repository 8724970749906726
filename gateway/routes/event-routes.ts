// Streams of events.
import * as shapes from '../../contracts/schemas/http-api';
import type { AgentFeed } from '../events/agent-feed';
import { agentEvents, hasSeenEnd, positionAfter } from '../events/agent-events';
import { eventStream } from '../events/event';
import { route } from '../http/route';
import { streamWhileAllowed } from '../http/while-allowed';

const tag = 'events';

const ofAll = route(
  {
    name: 'followAll',
    ...{ method: 'GET', path: '/v1/events', tag, role: 'viewer', events: true },
    summary: 'What waits for a person, and the open agents: now, and after each change',
    description:
      'Events `inbox` {items, unread}, `agents` {items, others} and, while the gateway cannot look, `trouble` ' +
      '{inbox, agents} with the codes of the errors: what was told last may be old. They have no ids: the first ones say all. `items` are at most ' +
      'the 100 newest; `others` is null, or says of those beyond them how many there are (`count`), with a `mark` that ' +
      'changes when one of them does.',
  },
  async (asked) => {
    const { context, caller } = asked;
    return streamWhileAllowed(asked, (over) =>
      eventStream(context.overview.follow(context.client, caller, over), over),
    );
  },
);

const ofAgent = route(
  {
    name: 'followAgent',
    ...{ method: 'GET', path: '/v1/agents/{agent}/events', tag, role: 'viewer', events: true },
    summary: 'What happens in an agent: recorded events in order, and what is of the moment',
    description:
      'With an id, and after Last-Event-ID (or the query `after`) each exactly once: `message` {index, message}, ' +
      '`turn_ended` {after, result}, `ended` {how}. Without an id: `state`, `token` (text that is not recorded yet), ' +
      '`output` {host, session, end}.',
    query: shapes.eventsQuery,
    headers: { 'Last-Event-ID': 'The id of the last event that was read, as EventSource sends it.' },
  },
  async (asked) => {
    const { params, query, context, connection } = asked;
    const after = connection.headers['last-event-id'];
    const position = positionAfter(typeof after === 'string' ? after : query.after);
    // EventSource comes back until the answer says that nothing follows.
    if (await hasSeenEnd(position, context.client.agent(params.agent)))
      return new Response(null, { status: 204 });
    const open = (): AgentFeed => context.feeds.of(context, params.agent);
    return streamWhileAllowed(asked, (over) => eventStream(agentEvents(open, position, over), over));
  },
);

export const EVENT_ROUTES = [ofAll, ofAgent];

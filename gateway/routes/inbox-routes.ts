// What waits for a person.
import * as shapes from '../../contracts/schemas/http-api';
import { route } from '../http/route';
import { inboxOf, readInbox } from '../inbox/read-inbox';

const inbox = route(
  {
    name: 'listInbox',
    ...{ method: 'GET', path: '/v1/inbox', tag: 'inbox', role: 'viewer' },
    summary:
      'All that waits for a person, and the latest 50 agents that stopped without what was asked for, oldest first',
    description:
      'A `failed` agent is listed until it goes on or is dismissed, one that has ended for a day. ' +
      '`unread` names the namespaces of hosts that could not be read: what waits there is missing.',
    answer: shapes.inbox,
  },
  async ({ context, caller }) => {
    const { items, unread } = await readInbox(context.client, context.dismissed);
    return { items: inboxOf(items, caller), next: null, unread };
  },
);

export const INBOX_ROUTES = [inbox];

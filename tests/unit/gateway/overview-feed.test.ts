// What a follower of all agents is told.
import type { AgentEntry } from '../../../client/agents/agent-directory';
import type { HoldfastClient } from '../../../client/holdfast-client';
import type { InboxItem } from '../../../contracts/gateway/api';
import type { Caller } from '../../../gateway/access/grants';
import type { Event } from '../../../gateway/events/event';
import { OverviewFeed } from '../../../gateway/events/overview-feed';
import { inboxOf } from '../../../gateway/inbox/read-inbox';

const caller = (agents: string): Caller => ({
  ...{ id: 't', name: 'n', role: 'viewer', agents: [agents], expiresAt: null },
});
const entryOf = (id: string): AgentEntry => ({
  ...{ id, workflowId: `agent/${id}`, runId: `run-${id}`, state: 'idle', waitsFor: 'none', message: null },
  ...{ startedAt: '2026-11-26T00:00:00.000Z', parent: null, end: null },
});

let open: AgentEntry[];
let over: AbortController;
let events: AsyncGenerator<Event, void>;
/** Nobody can be asked what waits: then only the agents are told. */
const client = {
  agents: {
    async *list() {
      yield* open;
    },
  },
} as unknown as HoldfastClient;

beforeEach(() => {
  // Newest first, as the server lists them.
  open = [...Array.from({ length: 150 }, (_, n) => entryOf(`theirs-${150 - n}`)), entryOf('mine-1')];
  over = new AbortController();
});
afterEach(async () => {
  over.abort();
  await events.return();
});

interface Told {
  items: AgentEntry[];
  others: { count: number; mark: string } | null;
}

function follow(agents: string): () => Promise<Told> {
  events = new OverviewFeed().follow(client, caller(agents), over.signal);
  return async () => {
    const { value } = await events.next();
    expect(value).toMatchObject({ event: 'agents' });
    return (value as Event).data as Told;
  };
}

const change = (id: string): void =>
  void (open = open.map((entry) => (entry.id === id ? { ...entry, state: 'working' } : entry)));

test('a token is told of its own agents, and of their changes, however many others are newer', async () => {
  const next = follow('mine-*');
  expect(await next()).toEqual({ items: [entryOf('mine-1')], others: null });
  change('mine-1');
  expect((await next()).items).toMatchObject([{ id: 'mine-1', state: 'working' }]);
});

test('a change of an agent beyond those that are shown is told, and how many there are', async () => {
  const next = follow('*');
  const first = await next();
  expect([first.items.length, first.items[0]?.id, first.others?.count]).toEqual([100, 'theirs-150', 51]);
  change('mine-1');
  const second = await next();
  expect(second.items).toEqual(first.items);
  expect(second.others?.mark).not.toBe(first.others?.mark);
});

test('the failures of other agents do not hide those of the agents of a token, and of its own the latest 50 are shown', () => {
  const item = (kind: InboxItem['kind'], agent: string): InboxItem => ({ kind, agent, since: '', text: '' });
  const of = (agent: string, count: number): InboxItem[] =>
    Array.from({ length: count }, (_, n) => item('failed', `${agent}-${n}`));
  const items = [item('input', 'mine-w'), ...of('mine', 60), ...of('theirs', 60)];
  const told = inboxOf(items, caller('mine-*')).map(({ agent }) => agent);
  expect([told.length, told[0], told[1], told.at(-1)]).toEqual([51, 'mine-w', 'mine-10', 'mine-59']);
});

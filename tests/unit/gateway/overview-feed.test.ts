// What a follower of all agents gets.
import type { AgentEntry } from '../../../client/agents/agent-directory';
import type { HoldfastClient } from '../../../client/holdfast-client';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
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
  ...{ startedAt: '2026-11-26T00:00:00.000Z', parent: null, failure: null, end: null },
});

let open: AgentEntry[];
let over: AbortController;
let events: AsyncGenerator<Event, void>;
let waiting: { since: string; what: string }[];
let unread: string[];
/** Why no look succeeds. */
let fault: Error | undefined;
const client = {
  agents: {
    async *list() {
      if (fault) throw fault;
      yield* open;
    },
  },
  approvals: {
    listPublished: () =>
      fault
        ? Promise.reject(fault)
        : Promise.resolve({
            waiting: waiting.map(({ since, what }) => ({
              askedAt: since,
              what,
              workflowId: 'exec/mine-1/local/0',
            })),
            ...{ unanswered: [], unread },
          }),
  },
  sessions: { listPublished: () => Promise.resolve({ sessions: [], unread }) },
} as unknown as HoldfastClient;

jest.mock('../../../gateway/inbox/failed-items', () => ({ failedAgents: () => Promise.resolve([]) }));

beforeEach(() => {
  // Newest first, as the server lists them.
  open = [...Array.from({ length: 150 }, (_, n) => entryOf(`theirs-${150 - n}`)), entryOf('mine-1')];
  over = new AbortController();
  [waiting, unread, fault] = [[], [], undefined];
});
afterEach(async () => {
  over.abort();
  await events.return();
});

interface Told {
  items: AgentEntry[];
  others: { count: number; mark: string } | null;
}

/** The next event of this name. */
async function nextOf(name: string): Promise<unknown> {
  for (;;) {
    const { value } = await events.next();
    if (value?.event === name) return value.data;
  }
}

function follow(agents: string): () => Promise<Told> {
  events = new OverviewFeed({ all: () => new Set() }).follow(client, caller(agents), over.signal);
  return async () => (await nextOf('agents')) as Told;
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

test('who follows is told when what was told may be old, why, and when it is not any more', async () => {
  events = new OverviewFeed({ all: () => new Set() }).follow(client, caller('*'), over.signal);
  expect(await nextOf('inbox')).toEqual({ items: [], unread: [] });
  fault = new HoldfastError('no_server', { address: 'a:1', reason: 'refused' });
  const told: unknown[] = [];
  while (!told.some((one) => JSON.stringify(one) === '{"inbox":"no_server","agents":"no_server"}'))
    told.push(await nextOf('trouble'));
  fault = undefined;
  while (JSON.stringify(told.at(-1)) !== '{"inbox":null,"agents":null}') told.push(await nextOf('trouble'));
});

test('a host whose namespace cannot be read hides nothing that waits elsewhere, and is named', async () => {
  [waiting, unread] = [[{ since: '2026-11-26T00:00:00.000Z', what: 'rm' }], ['holdfast-far']];
  events = new OverviewFeed({ all: () => new Set() }).follow(client, caller('*'), over.signal);
  expect(await nextOf('inbox')).toMatchObject({ items: [{ agent: 'mine-1' }], unread: ['holdfast-far'] });
});

test('who comes after nobody was there is told how it is now, not how it was then', async () => {
  const feed = new OverviewFeed({ all: () => new Set() });
  waiting = [{ since: '2026-11-26T00:00:00.000Z', what: 'old' }];
  events = feed.follow(client, caller('*'), over.signal);
  expect(await nextOf('inbox')).toMatchObject({ items: [{}] });
  await events.return();
  waiting = [];
  events = feed.follow(client, caller('*'), over.signal);
  expect(await nextOf('inbox')).toMatchObject({ items: [] });
});

test('who follows anew is told that all can be read, also if it was told of a fault before and not of its end', async () => {
  const feed = new OverviewFeed({ all: () => new Set() });
  fault = new HoldfastError('no_server', { address: 'a:1', reason: 'refused' });
  events = feed.follow(client, caller('*'), over.signal);
  while (JSON.stringify(await nextOf('trouble')) !== '{"inbox":"no_server","agents":"no_server"}');
  await events.return();
  fault = undefined;
  events = feed.follow(client, caller('*'), over.signal);
  const first = await events.next();
  expect(first.value).toEqual({ event: 'trouble', data: { inbox: null, agents: null } });
});

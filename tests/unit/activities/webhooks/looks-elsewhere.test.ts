// Looks for events in several namespaces: those of hosts are other trust domains, and may be away.
import type { Client } from '@temporalio/client';
import { defaultDataConverter, defaultPayloadConverter } from '@temporalio/common';
import { msToTs } from '@temporalio/common/lib/time';
import { lookForEvents, type LookParts } from '../../../../activities/webhooks/look-for-events';
import { HostNamespaces } from '../../../../client/hosts/host-namespaces';
import { SEARCH_ATTRIBUTES, WORKFLOWS } from '../../../../contracts/messages';
import type { WebhookCursor, WebhookFound } from '../../../../contracts/webhooks';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const NOW = Date.now();
const SINCE = new Date(NOW - 24 * HOUR_MS).toISOString();

/** A namespace with ends of turns and lost shells, by the time at which they happened. */
class FakeNamespace {
  private readonly workflows: { at: number; raw: object }[] = [];
  isAway = false;

  constructor(namespace: string) {
    Object.assign(this.client.options, { namespace });
  }

  readonly client = {
    options: { loadedDataConverter: defaultDataConverter },
    workflow: { getHandle: () => ({ result: async () => null }) },
    workflowService: {
      listWorkflowExecutions: async ({ query }: { query: string }) => {
        if (this.isAway) throw new Error('away');
        const [, from = ''] = />= "([^"]+)"/.exec(query) ?? [];
        const isEnd = query.includes(WORKFLOWS.turn);
        const executions = this.workflows
          .filter(({ at, raw }) => at >= Date.parse(from) && 'closeTime' in raw === isEnd)
          .map(({ raw }) => raw);
        return { executions, nextPageToken: new Uint8Array() };
      },
    },
  } as unknown as Client;

  turnEnded(agent: string, at: number): void {
    const raw = { ...workflow(`agent/${agent}/turn/1`, WORKFLOWS.turn), closeTime: msToTs(at) };
    this.workflows.push({ at, raw });
  }

  lost(agent: string, at: number): void {
    const texts = [`lost ${new Date(at).toISOString()} c`];
    const indexedFields = { [SEARCH_ATTRIBUTES.notices]: defaultPayloadConverter.toPayload(texts) };
    const raw = { ...workflow(`exec/${agent}/far/0`, 'execSession'), searchAttributes: { indexedFields } };
    this.workflows.push({ at, raw });
  }
}

const workflow = (workflowId: string, name: string): object => ({
  ...{ execution: { workflowId, runId: 'r' }, type: { name }, status: 2, startTime: msToTs(0) },
  ...{ taskQueue: 'q', historyLength: { toNumber: () => 1 }, memo: null },
});

let main: FakeNamespace;
let far: FakeNamespace;
let parts: LookParts;
beforeEach(() => {
  main = new FakeNamespace('main');
  far = new FakeNamespace('far');
  const namespaces = new HostNamespaces(main.client, { address: 'a', queue: 'q' });
  namespaces.all = async () => [main.client, far.client];
  namespaces.clientOf = async () => far.client;
  const settings = { events: ['turn.ended', 'session.lost'], agents: ['*'] };
  parts = { client: { namespaces }, store: { find: () => settings } } as unknown as LookParts;
});

/** Who is reported, and where the next look begins. */
async function look(cursor: WebhookCursor): Promise<{ agents: string[]; cursor: WebhookCursor }> {
  const asked = { webhook: 'w', since: SINCE, cursor };
  const found: WebhookFound = await lookForEvents(parts, asked, AbortSignal.timeout(3_000));
  const agents = found.events.map(({ data }) => ('agent' in data ? data.agent : '')).sort();
  return { agents, cursor: found.cursor };
}
const start = (): WebhookCursor => ({ latest: null, seen: [] });

test('a notice with a time to come is no event, and hides none: not of others, not of its own host', async () => {
  far.lost('forged', Date.parse('2999-01-01T00:00:00Z'));
  far.lost('soon', NOW + 10 * MINUTE_MS);
  main.turnEnded('first', NOW - 10 * MINUTE_MS);
  const before = await look(start());
  expect(before.agents).toEqual(['first']);
  main.turnEnded('second', NOW);
  far.lost('third', NOW);
  const after = await look(before.cursor);
  expect(after.agents).toEqual(['second', 'third']);
});

test('what happened in the namespace of a host while it could not be read is found once it can be', async () => {
  main.turnEnded('first', NOW - 4 * HOUR_MS);
  far.isAway = true;
  const away = await look(start());
  main.turnEnded('second', NOW - 2 * HOUR_MS);
  far.lost('unseen', NOW - 3 * HOUR_MS);
  const still = await look(away.cursor);
  expect([away.agents, still.agents]).toEqual([['first'], ['second']]);
  far.isAway = false;
  const back = await look(still.cursor);
  expect(back.agents).toEqual(['unseen']);
  main.turnEnded('third', NOW);
  expect((await look(back.cursor)).agents).toEqual(['third']);
});

test('the namespace of a host that is new to a webhook is read from where the others are', async () => {
  main.turnEnded('first', NOW - HOUR_MS);
  far.lost('before', NOW - 2 * HOUR_MS);
  far.lost('after', NOW - HOUR_MS);
  const latest = new Date(NOW - HOUR_MS).toISOString();
  expect((await look({ latest, seen: [] })).agents).toEqual(['after', 'first']);
});

test("the agents' own namespace must be read: its failure is told", async () => {
  main.isAway = true;
  await expect(look(start())).rejects.toThrow('away');
});

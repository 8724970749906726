import { Transcripts } from '../../../../activities/agents/transcripts';
import type { HoldfastClient } from '../../../../client/holdfast-client';
import type { Message } from '../../../../contracts/agents/agent';
import type { MessagesOfRun } from '../../../../contracts/agents/messages-of-run';
import { messageBytes } from '../../../../contracts/payload-size';
import { Transcript } from '../../../../workflows/turn/transcript';

const user = (text: string): Message => ({ role: 'user', text });
const extent = (messages: readonly Message[]): { count: number; bytes: number } => ({
  count: messages.length,
  bytes: messages.reduce((sum, message) => sum + messageBytes(message), 0),
});

/** A worker's transcripts, and the queries that they made to the run's own. */
function worker(...messages: Message[]): {
  transcripts: Transcripts;
  queries: { from: number }[];
  read: (of?: Partial<MessagesOfRun>) => Promise<Message[]>;
} {
  const own = new Transcript(() => undefined);
  own.push(...messages);
  const queries: { from: number }[] = [];
  const query = (_name: string, request: { from: number; limit: number }): Promise<unknown> => {
    queries.push({ from: request.from });
    return Promise.resolve(own.page(request));
  };
  const temporal = { workflow: { getHandle: () => ({ query }) } };
  const transcripts = new Transcripts({ temporal } as unknown as HoldfastClient);
  const of = { workflowId: 'agent/a/turn/1', runId: 'run', ...own.extent };
  return { transcripts, queries, read: (change = {}) => transcripts.read({ ...of, ...change }) };
}

const [a, b, c] = [user('a'), user('b'), user('c')] as const;

test('what the workflows of this worker record is read without a query', async () => {
  const { transcripts, queries, read } = worker(a, b, c);
  transcripts.recorded('run', extent([]), [a]);
  transcripts.recorded('run', extent([a]), [b, c]);
  expect(await read()).toEqual([a, b, c]);
  expect(await read({ ...extent([a, b]) })).toEqual([a, b]);
  expect(queries).toEqual([]);
});

test('nothing is kept of a run that has ended: its messages are read by query', async () => {
  const { transcripts, queries, read } = worker(a, b);
  transcripts.recorded('run', extent([]), [a, b]);
  transcripts.ended('run');
  transcripts.ended('another run');
  expect(await read()).toEqual([a, b]);
  expect(queries).toEqual([{ from: 0 }]);
});

test('of what another worker recorded only the missing messages are asked for, once', async () => {
  const { transcripts, queries, read } = worker(a, b, c);
  transcripts.recorded('run', extent([]), [a]);
  expect(await read()).toEqual([a, b, c]);
  expect(await read()).toEqual([a, b, c]);
  expect(queries).toEqual([{ from: 1 }]);
});

test('messages after a gap are asked for with what lies before them', async () => {
  const { transcripts, queries, read } = worker(a, b, c);
  transcripts.recorded('run', extent([a, b]), [c]);
  expect(await read()).toEqual([a, b, c]);
  expect(queries).toEqual([{ from: 0 }]);
});

test('a workflow task that is run again replaces what it recorded before', async () => {
  const { transcripts, queries, read } = worker(a, b);
  transcripts.recorded('run', extent([]), [a]);
  transcripts.recorded('run', extent([a]), [user('never happened'), user('nor this')]);
  transcripts.recorded('run', extent([a]), [b]);
  expect(await read()).toEqual([a, b]);
  expect(queries).toEqual([]);
});

test('what was recorded here but went otherwise elsewhere is never read', async () => {
  const elsewhere = user('as it went elsewhere');
  const { transcripts, queries, read } = worker(a, elsewhere, c);
  transcripts.recorded('run', extent([]), [a, user('never happened')]);
  expect(await read()).toEqual([a, elsewhere, c]);
  expect(queries.length).toBeGreaterThan(0);
  transcripts.recorded('run', extent([]), [a, user('never happened')]);
  transcripts.recorded('run', extent([a, elsewhere]), [c]);
  expect(await read()).toEqual([a, elsewhere, c]);
});

test('runs that were not used for long make room for others, and are read again by query', async () => {
  const { transcripts, queries, read } = worker(a);
  transcripts.recorded('run', extent([]), [a]);
  const large = user('x'.repeat(10_000_000));
  for (let other = 0; other < 10; other++) transcripts.recorded(`other-${other}`, extent([]), [large]);
  expect(await read()).toEqual([a]);
  expect(queries).toEqual([{ from: 0 }]);
});

// Where a client that comes back is taken up, when the gateway is a little behind what it was sent elsewhere.
import type { AgentOverview, Message } from '../../../contracts/agents/agent';
import { agentEvents, positionAfter } from '../../../gateway/events/agent-events';
import type { AgentFeed } from '../../../gateway/events/agent-feed';
import { eventStream, type Event } from '../../../gateway/events/event';
import { until } from '../../helpers/until';

const RUN = '11111111-1111-7111-8111-1111111111aa';
const NEXT_RUN = '22222222-2222-7222-8222-2222222222bb';
const nameOf = (runId: string): string => runId.replaceAll('-', '').slice(-12);

let over: AbortController;
let told: Event[];
beforeEach(() => {
  over = new AbortController();
  told = [];
});
afterEach(() => over.abort());

const state = (messages: number, more: Partial<AgentOverview> = {}): AgentOverview =>
  ({
    ...{ runId: RUN, messages, currentTurn: null, turn: null, status: 'idle', lastResult: null },
    ...more,
  }) as AgentOverview;

/** What a feed knows; the present run of the agent as the server knows it. */
class Feed {
  version = 1;
  isGone = false;
  isOver = false;
  live = { subscribe: () => () => undefined };
  private listen: () => void = () => undefined;

  constructor(
    public state: AgentOverview,
    private presentRun = RUN,
    /** What the agent says of itself. */
    public present = state,
  ) {}

  presentState = () => Promise.resolve(this.present);

  follow = () => () => undefined;
  onChange = (listen: () => void) => {
    this.listen = listen;
    return () => undefined;
  };
  messages = (from: number): Promise<Message[]> => {
    const { messages, turn } = this.state;
    const isFirst = (n: number): boolean => (n < messages ? n % 2 === 0 : n === messages);
    const role = (n: number): string => (isFirst(n) ? 'user' : 'assistant');
    const length = messages + (turn?.messages ?? 0);
    const all = Array.from({ length }, (_, n) => ({ role: role(n), text: `${n}` }) as Message);
    return Promise.resolve(all.slice(from));
  };
  runsSince = () => Promise.resolve(undefined);
  isOfPresentRun = jest.fn(({ runId }: AgentOverview) => Promise.resolve(runId === this.presentRun));

  become(next: AgentOverview, more: Partial<Pick<Feed, 'isOver' | 'isGone'>> = {}): void {
    Object.assign(this, { state: next, version: this.version + 1, ...more });
    this.listen();
  }

  follower(after: string): Promise<void> {
    const read = async (): Promise<void> => {
      const position = positionAfter(after);
      for await (const event of agentEvents(() => this as unknown as AgentFeed, position, over.signal))
        told.push(event);
    };
    return read();
  }
}

const ids = (): (string | undefined)[] => told.flatMap(({ id }) => id?.split('@')[0] ?? []);
const messages = (): (string | undefined)[] => ids().filter((id) => !id?.endsWith('.end'));
const seen = (messages: number) => (): boolean =>
  told.some(({ event, data }) => event === 'state' && (data as AgentOverview).messages === messages);

test.each([
  ['the idle agent', state(10), '10', ['11', '11.end']],
  [
    'an earlier step of the turn',
    state(0, { currentTurn: 't', turn: { messages: 8 } as never }),
    '10',
    ['11', '11.end'],
  ],
  ['the end of the turn', state(8), '9.end', ['10', '11', '11.end']],
])(
  'a client that comes to a gateway that only knows %s gets nothing again',
  async (_what, behind, place, rest) => {
    const feed = new Feed(behind, RUN, state(12));
    void feed.follower(`${place}@${nameOf(RUN)}`);
    await until(seen(behind.messages));
    expect(ids()).toEqual([]);
    feed.become(state(12));
    await until(() => ids().includes('11.end'));
    expect(ids()).toEqual(rest);
  },
);

test('a client that was told of the next run gets nothing again from a gateway that only knows the one before', async () => {
  const feed = new Feed(state(20), NEXT_RUN);
  void feed.follower(`5.end@${nameOf(NEXT_RUN)}`);
  await until(() => feed.isOfPresentRun.mock.calls.length > 0);
  feed.become(state(8, { runId: NEXT_RUN, carried: 4, continuedFrom: RUN }));
  await until(() => ids().includes('7.end'));
  expect(ids()).toEqual(['6', '7', '7.end']);
});

test.each(['10', '10.end'])(
  'after %s, an id beyond the end that names no run, all of it comes',
  async (id) => {
    const feed = new Feed(state(2));
    void feed.follower(id);
    await until(() => ids().includes('1.end'));
    expect(ids()).toEqual(['0', '1', '1.end']);
  },
);

const LOST = { code: 'turn_lost' } as never;

test('the end of a turn that was lost is told with its error, and so is all that comes after it', async () => {
  const feed = new Feed(state(2, { currentTurn: 't', turn: { messages: 3 } as never }));
  void feed.follower('');
  await until(() => ids().includes('4'));
  // Of the turn only the message that began it is left.
  feed.become(state(3, { lastResult: LOST }));
  await until(() => ids().includes('4.end'));
  expect(told.find(({ id }) => id?.startsWith('4.end'))?.data).toMatchObject({ result: LOST });
  feed.become(state(5));
  await until(() => messages().length === 7);
  expect(messages()).toEqual(['0', '1', '2', '3', '4', '3', '4']);
});

test('a client that comes back after a turn was lost is told its end, and all that comes after it', async () => {
  const feed = new Feed(state(3, { lastResult: LOST }));
  void feed.follower(`4@${nameOf(RUN)}`);
  await until(() => ids().includes('2.end'));
  feed.become(state(5));
  await until(() => messages().length > 1);
  expect([ids()[0], ...messages()]).toEqual(['2.end', '3', '4']);
});

test('the stream of a terminated agent ends when its turn has ended, with all that the turn has recorded', async () => {
  const turn = (messages: number): Partial<AgentOverview> => ({
    ...{ status: 'ended', currentTurn: 't', turn: { messages } as never },
  });
  const feed = new Feed(state(0, turn(2)));
  const following = feed.follower('');
  await until(() => ids().includes('1'));
  feed.become(state(0, turn(3)), { isOver: true });
  await following;
  // No turn ended by itself.
  expect(ids()).toEqual(['0', '1', '2', 'ended']);
});

test('a client that is refused while it is told of earlier runs gets no more than was on its way', async () => {
  const LONG_AGO = '00000000-0000-7000-8000-000000000099';
  const earlier = [state(100, { runId: LONG_AGO }), state(100)];
  let isFollowed = false;
  const feed = Object.assign(new Feed(state(8, { runId: NEXT_RUN })), {
    follow: () => ((isFollowed = true), () => void (isFollowed = false)),
    runsSince: () => Promise.resolve(earlier),
    earlierMessages: (_run: string, from: number) =>
      Promise.resolve(from < 100 ? [{ role: 'assistant', text: `${from}` }] : []),
  });
  const position = positionAfter(`0@${nameOf(LONG_AGO)}`);
  const events = agentEvents(() => feed as unknown as AgentFeed, position, over.signal);
  const reader = (eventStream(events, over.signal).body as ReadableStream<Uint8Array>).getReader();
  await reader.read();
  await reader.read();
  expect(isFollowed).toBe(true);
  over.abort();
  // Nothing has been read since.
  await until(() => !isFollowed);
  let rest = 0;
  while (!(await reader.read()).done) rest += 1;
  expect(rest).toBeLessThanOrEqual(1);
});

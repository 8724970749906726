// Events over SSE: each recorded one exactly once, whatever ends in between.
import { stringify } from 'yaml';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AgentFeeds } from '../../../gateway/events/agent-feed';
import { gatewayOn, readEvents, type SeenEvent } from '../../helpers/gateway/gateway';
import { GatewayOfItsOwn } from '../../helpers/gateway/gateway-of-its-own';
import { lengthenHistory } from '../../helpers/engines/long-history';
import { ModelSimulator } from '../../helpers/services/model-simulator';
import { call, QUICK_YIELD, uniqueId, type Reply } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const own = new GatewayOfItsOwn();
const { engine, files } = own;
let simulator: ModelSimulator;
beforeAll(async () => {
  simulator = await ModelSimulator.start();
  await own.start({
    config: `[model_providers.sim]\nbase_url = "${simulator.url}/v1"\nwire_api = "chat"\n`,
  });
}, 60_000);
afterAll(() => own.end(), 60_000);
afterAll(() => simulator.stop());

const token = (): string => own.api.token ?? '';
const recorded = (events: SeenEvent[]): SeenEvent[] => events.filter(({ id }) => id !== undefined);
/** Without their run, which must be the same. */
function placesOf(events: SeenEvent[]): string[] {
  const ids = recorded(events).map(({ id = '' }) => id.split('@'));
  expect(new Set(ids.map(([, run]) => run)).size).toBeLessThanOrEqual(1);
  return ids.map(([place = '']) => place);
}

async function start(replies: Reply[], mode: 'task' | 'conversation' = 'conversation'): Promise<string> {
  const agent = uniqueId('e');
  await own.api.post('/v1/agents', { id: agent, task: 'first', mode, ...files.settings(replies) });
  return `/v1/agents/${agent}`;
}

const isEndOfTurn = ({ event }: SeenEvent): boolean => event === 'turn_ended';

test('a follower gets the state, each message once, in order, and the end of each turn', async () => {
  const path = await start([
    { text: call('code_execution_tool', { runtime: 'terminal', code: 'echo 1' }) },
    { text: 'one' },
    { text: 'two' },
  ]);
  const { events } = await readEvents(`${own.gateway.url}${path}/events`, {
    token: token(),
    enough: isEndOfTurn,
  });
  expect(events.find(({ event }) => event === 'state')).toBeDefined();
  expect(placesOf(events)).toEqual(['0', '1', '2', '3', '4', '5', '5.end']);
  expect(recorded(events).at(-1)?.data).toMatchObject({ result: { answer: 'one' } });
  await own.api.post(`${path}/messages`, { message: 'second' }, 'k');
  await own.api.post(`${path}/messages`, { message: 'second' }, 'k');
  const next = await readEvents(`${own.gateway.url}${path}/events`, {
    token: token(),
    after: '5.end',
    enough: isEndOfTurn,
  });
  expect(placesOf(next.events)).toEqual(['6', '7', '7.end']);
  await own.api.post(`${path}/stop`, { reason: 'done' });
  const last = await readEvents(`${own.gateway.url}${path}/events`, {
    token: token(),
    after: '7.end',
    enough: () => false,
  });
  expect(placesOf(last.events)).toEqual(['ended']);
  expect(last.ended).toBe(true);
  const after = await fetch(`${own.gateway.url}${path}/events`, {
    headers: { Authorization: `Bearer ${token()}`, 'Last-Event-ID': 'ended' },
  });
  expect(after.status).toBe(204);
});

test('ids of an earlier agent with the same id, and ids beyond the end, hide no event of the present one', async () => {
  const path = await start([{ text: 'one' }], 'task');
  const agent = path.split('/').at(-1) ?? '';
  const follow = async (after?: string) =>
    (
      await readEvents(`${own.gateway.url}${path}/events`, {
        token: token(),
        ...(after !== undefined && { after }),
        enough: ({ event }) => event === 'ended',
      })
    ).events;
  const earlier = await follow();
  expect(earlier.at(-1)?.id).toMatch(/^ended@[0-9a-f]{12}$/);
  const present = { id: agent, task: 'first', mode: 'conversation', ...files.settings([{ text: 'other' }]) };
  await own.api.post('/v1/agents', present);
  const stopped = async (after: string): Promise<SeenEvent[]> =>
    (await readEvents(`${own.gateway.url}${path}/events`, { token: token(), after, enough: isEndOfTurn }))
      .events;
  const whole = await stopped('');
  const places = placesOf(whole);
  expect(places.slice(0, 2)).toEqual(['0', '1']);
  const beyond = ['999', '999.end', 'ended', ...recorded(earlier).map(({ id = '' }) => id)];
  for (const after of beyond)
    expect([after, recorded(await stopped(after))]).toEqual([after, recorded(whole)]);
  const [first] = recorded(whole);
  expect(placesOf(await stopped(first?.id ?? ''))).toEqual(places.slice(1));
  expect(placesOf(await stopped('0'))).toEqual(places.slice(1));
  await own.api.post(`${path}/stop`, { reason: 'done' });
  const end = (await follow(recorded(whole).at(-1)?.id)).at(-1)?.id ?? '';
  const status = async (after: string) =>
    (
      await fetch(`${own.gateway.url}${path}/events`, {
        headers: { Authorization: `Bearer ${token()}`, 'Last-Event-ID': after },
      })
    ).status;
  expect([await status(end), await status('ended')]).toEqual([204, 204]);
  expect(placesOf(await follow(earlier.at(-1)?.id))).toEqual([...places, 'ended']);
});

test('a follower of an agent whose id is given to another one gets all of that one', async () => {
  const path = await start([{ text: 'one' }]);
  const agent = path.split('/').at(-1) ?? '';
  let turns = 0;
  const restart = async (): Promise<void> => {
    await engine.client.temporal.workflow.getHandle(engine.client.agent(agent).workflowId).terminate();
    await own.api.post('/v1/agents', {
      id: agent,
      task: 'second',
      mode: 'conversation',
      ...files.settings([{ text: 'two' }]),
    });
  };
  let restarting: Promise<void> | undefined;
  const events: SeenEvent[] = [];
  // The first stream may end between the two agents: browsers come back.
  while (turns < 2) {
    const after = recorded(events).at(-1)?.id;
    const seen = await readEvents(`${own.gateway.url}${path}/events`, {
      token: token(),
      ...(after !== undefined && { after }),
      enough: (event) => {
        if (isEndOfTurn(event) && ++turns === 1) restarting = restart();
        return turns === 2;
      },
    });
    events.push(...seen.events);
    await restarting;
  }
  const ids = recorded(events).map(({ id = '' }) => id.split('@'));
  const runs = [...new Set(ids.map(([, run]) => run))];
  expect(runs).toHaveLength(2);
  const ofSecond = ids.filter(([, run]) => run === runs[1]).map(([place]) => place);
  expect(ofSecond[0]).toBe('0');
  expect(ofSecond.at(-1)).toMatch(/end$/);
});

test('who follows an agent that is terminated in its turn gets what the turn still records, and that it has ended', async () => {
  const begun = join(files.directory, uniqueId('begun'));
  const code = `touch ${begun}; sleep 600`;
  const agent = engine.client.agent(uniqueId('e'));
  await own.api.post('/v1/agents', {
    ...{ id: agent.id, task: 'first', mode: 'conversation' },
    ...files.settings([{ text: call('code_execution_tool', { runtime: 'terminal', code }) }]),
    yield: { ...QUICK_YIELD, firstOutputMs: 600_000, maxMs: 600_000 },
  });
  const path = `/v1/agents/${agent.id}`;
  const read = (after?: string) =>
    readEvents(`${own.gateway.url}${path}/events`, {
      token: token(),
      ...(after !== undefined && { after }),
      enough: () => false,
    });
  const reading = read();
  await until(() => existsSync(begun));
  await engine.client.temporal.workflow.getHandle(agent.workflowId).terminate();
  const { events } = await reading;
  const total = (await agent.turnPage(1, 0))?.total ?? NaN;
  expect(placesOf(events)).toEqual([...Array.from({ length: total }, (_, n) => `${n}`), 'ended']);
  expect(recorded((await read()).events)).toEqual(recorded(events));
  expect((await read(recorded(events).at(-1)?.id)).events).toEqual([]);
  const known = [await own.api.get(path), await own.api.get(`${path}/tree`)];
  expect(known).toEqual([
    expect.objectContaining({ status: 'ended' }),
    expect.objectContaining({ status: 'ended' }),
  ]);
}, 60_000);

test('whoever comes back gets what was missed exactly once, though gateway and worker were ended meanwhile', async () => {
  const steps = Array.from({ length: 6 }, (_, n) => ({
    text: call('code_execution_tool', { runtime: 'terminal', code: `sleep 0.3; echo ${n}` }),
  }));
  const path = await start([...steps, { text: 'over' }]);
  const whole = readEvents(`${own.gateway.url}${path}/events`, { token: token(), enough: isEndOfTurn });
  const pieces: SeenEvent[] = [];
  for (let round = 0; pieces.at(-1)?.event !== 'turn_ended'; round++) {
    const other = await gatewayOn(engine);
    const after = pieces.at(-1)?.id;
    let seen = 0;
    const { events } = await readEvents(`${other.url}${path}/events`, {
      token: token(),
      ...(after !== undefined && { after }),
      enough: (event) => event.id !== undefined && (isEndOfTurn(event) || ++seen === 3),
    });
    pieces.push(...recorded(events));
    await other.close();
    if (round === 0) {
      await engine.killWorker();
      await engine.startWorker();
    }
  }
  const all = recorded((await whole).events);
  expect(pieces).toEqual(all);
  // The task, a checkpoint, six steps with a reply, a result and a checkpoint each, the answer, and the end.
  expect(all).toHaveLength(1 + 1 + 6 * 3 + 1 + 1);
}, 60_000);

test('an agent that continues as new with a shorter conversation hides and repeats no event of a follower, connected or away', async () => {
  const path = await start(['one', 'two', 'three', 'four'].map((text) => ({ text })));
  const events = `${own.gateway.url}${path}/events`;
  const turns = (wanted: number) => {
    let seen = 0;
    return (event: SeenEvent): boolean => isEndOfTurn(event) && ++seen === wanted;
  };
  const whole = readEvents(events, { token: token(), enough: (event) => event.event === 'ended' });
  const away = recorded((await readEvents(events, { token: token(), enough: turns(1) })).events);
  const agent = engine.client.agent(path.split('/').at(-1) ?? '');
  await agent.send('second');
  await agent.workspace.rewind(1, { what: 'conversation' });
  const { runId } = await agent.ownState();
  await lengthenHistory(engine.client, agent.id);
  // A caller that waits is answered first.
  await agent.send('third');
  await agent.send('fourth');
  const after = await agent.ownState();
  expect(after).toMatchObject({ continuedFrom: runId, carried: expect.any(Number) as number });
  expect(after.carried).toBeLessThan((await agent.ownState(runId)).messages);
  const last = await gatewayOn(engine);
  const missed = await readEvents(`${last.url}${path}/events`, {
    token: token(),
    after: away.at(-1)?.id ?? '',
    enough: turns(after.turns - 1),
  });
  await agent.stop('enough');
  const all = recorded((await whole).events);
  await last.close();
  const asked = all.flatMap(({ data }) => {
    const message = data.message as { role: string; text: string } | undefined;
    return message?.role === 'user' ? [message.text] : [];
  });
  expect(asked).toEqual(['first', 'second', 'third', 'fourth']);
  expect(all.filter(isEndOfTurn)).toHaveLength(4);
  // Who comes late does not get the results of the turns between.
  const told = (events: SeenEvent[]): unknown[] => events.map(({ id, data }) => [id, data.message]);
  expect(told([...away, ...recorded(missed.events)])).toEqual(told(all.slice(0, -1)));
  const ofNext = all.filter(({ id = '' }) => id.endsWith(`@${after.runId.replaceAll('-', '').slice(-12)}`));
  expect(ofNext[0]?.data.index).toBe(after.carried);
}, 60_000);

test('tokens come as the model writes them, and how far the output has grown, without ids', async () => {
  const answer = 'a longer answer that is written piece by piece';
  simulator.mock.on({ userMessage: 'how is it?' }, { content: answer }, { chunkSize: 5, latency: 100 });
  const agent = uniqueId('e');
  await own.api.post('/v1/agents', {
    id: agent,
    mode: 'conversation',
    model: 'sim:any',
    cwd: files.directory,
  });
  await own.api.post(`/v1/sessions/${agent}/local/0/exec`, { code: 'echo grown' });
  const reading = readEvents(`${own.gateway.url}/v1/agents/${agent}/events`, {
    token: token(),
    enough: isEndOfTurn,
    onFirst: () => own.api.post(`/v1/agents/${agent}/messages`, { message: 'how is it?' }),
  });
  const { events } = await reading;
  const live = events.filter(({ id }) => id === undefined);
  const texts = live.filter(({ event, data }) => event === 'token' && data.kind === 'text');
  expect(texts.length).toBeGreaterThan(2);
  expect(texts.map(({ data }) => data.text).join('')).toBe(answer);
  expect(live).toContainEqual({ event: 'output', data: { host: 'local', session: 0, end: 7 } });
});

test('the stream of all says what waits for a person, and that it no longer does', async () => {
  const path = await start([
    {
      text: call('code_execution_tool', { runtime: 'terminal', code: 'read -s -p "Password: " x; echo ok' }),
    },
    { text: 'asked' },
  ]);
  const agent = path.split('/').at(-1) ?? '';
  const items = ({ event, data }: SeenEvent): { agent: string; kind: string; session?: object }[] =>
    event === 'inbox' ? (data.items as []) : [];
  const { events } = await readEvents(`${own.gateway.url}/v1/events`, {
    token: token(),
    enough: (event) => items(event).some((one) => one.agent === agent),
  });
  const [one] = items(events.at(-1) as SeenEvent).filter((each) => each.agent === agent);
  expect(one).toMatchObject({
    kind: 'input',
    session: { host: 'local', session: 0, echo: false, screen: 'Password: ' },
  });
  await own.api.post(`/v1/sessions/${agent}/local/0/input`, { keyboard: 'secret' });
  await readEvents(`${own.gateway.url}/v1/events`, {
    token: token(),
    enough: (event) => event.event === 'inbox' && !items(event).some((each) => each.agent === agent),
  });
});

test('a failed agent is in the inbox with why and what can be done', async () => {
  const broken = join(files.directory, 'broken.yaml');
  writeFileSync(broken, stringify([{ fail: 'model_auth' }]));
  const agent = uniqueId('f');
  await own.api.post('/v1/agents', { id: agent, task: 'x', model: `scripted:${broken}` });
  const { events } = await readEvents(`${own.gateway.url}/v1/events`, {
    token: token(),
    enough: ({ event, data }) =>
      event === 'inbox' && (data.items as { agent: string }[]).some((each) => each.agent === agent),
  });
  const items = events.at(-1)?.data.items as { agent: string }[];
  expect(items.find((each) => each.agent === agent)).toMatchObject({
    kind: 'failed',
    failure: { code: expect.any(String) as string, next: expect.any(String) as string },
  });
});

test('a stream ends at once when its token is revoked', async () => {
  const path = await start([{ text: 'x' }]);
  const { token: brief, stored } = await own.gateway.tokens.create({
    name: 'brief',
    role: 'viewer',
    agents: ['*'],
    validMs: null,
  });
  const { events, ended } = await readEvents(`${own.gateway.url}${path}/events`, {
    token: brief,
    enough: () => false,
    onFirst: () => own.gateway.tokens.revoke(stored.id),
  });
  expect(events.length).toBeGreaterThan(0);
  expect(ended).toBe(true);
});

test.each([
  ['an unknown agent', '/v1/agents/nobody/events', {}, 404],
  ['an id that is of no event', '', { 'Last-Event-ID': 'x' }, 400],
])('a stream of %s is refused', async (_what, given, headers, status) => {
  const path = given || `${await start([{ text: 'x' }])}/events`;
  expect(await own.api.ask('GET', path, undefined, headers)).toMatchObject({ status });
});

test('who begins to follow an agent just as its last follower leaves is told what happens', async () => {
  const path = await start([{ text: 'one' }, { text: 'two' }]);
  const feeds = new AgentFeeds();
  const place = { client: engine.client, dataDir: engine.dataDir, isElsewhere: () => false };
  const agent = path.split('/').at(-1) ?? '';
  const feed = feeds.of(place, agent);
  const leave = feed.follow();
  await until(() => feed.state?.messages === 2);
  leave();
  // Got before, followed after.
  const leaveAgain = feed.follow();
  const next = feeds.of(place, agent);
  await own.api.post(`${path}/messages`, { message: 'second' });
  await until(() => feed.state?.messages === 4);
  // It takes no other feed out of use.
  leaveAgain();
  expect(feeds.of(place, agent)).toBe(next);
});

test('an agent that was terminated before a worker took it has ended for its followers, and for all who ask', async () => {
  await engine.killWorker();
  const id = uniqueId('never-taken');
  const agent = engine.client.agent(id);
  await agent.start({ task: 'first', ...files.settings([{ text: 'never' }]) });
  await engine.client.temporal.workflow.getHandle(agent.workflowId).terminate();
  await engine.startWorker();
  await expect(agent.state()).rejects.toMatchObject({ code: 'not_found', facts: { ended: true } });
  const isEnd = ({ event }: SeenEvent): boolean => event === 'ended';
  const path = `${own.gateway.url}/v1/agents/${id}/events`;
  const { events } = await readEvents(path, { token: token(), enough: isEnd });
  expect(events.filter(isEnd)).toMatchObject([
    { data: { how: expect.stringContaining('has ended') as string } },
  ]);
  expect((await own.api.get<{ unanswered: string[] }>('/v1/usage')).unanswered).not.toContain(id);
}, 60_000);

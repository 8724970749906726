// What a client of the library gets while the server is away or frozen, and what outlives that.
import { HoldfastClient } from '../../../client/holdfast-client';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { uniqueId } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const engine = new EngineOfItsOwn({ ownServer: true });
/** Gives a request few attempts. */
let brief: HoldfastClient;
beforeAll(async () => {
  await engine.start();
  brief = await HoldfastClient.connect({ address: engine.server().address, patienceMs: 2_000 }, {});
}, 60_000);
afterAll(async () => {
  await brief.close();
  expect(await engine.end()).toEqual([]);
}, 60_000);

test('lists say `no_server` while the server is away, and a wait for a session’s end outlives its restart', async () => {
  const { address } = engine.server();
  const session = { agent: uniqueId('a'), session: 0 };
  await brief.session(session).exec({ code: 'true' });
  // A request of this one is repeated as often as one of the other, a message for a minute.
  const patient = new HoldfastClient(brief.temporal, address);
  let hasEnded = false;
  const ended = patient
    .session(session)
    .closed()
    .finally(() => (hasEnded = true));
  ended.catch(() => undefined);
  await engine.killServer();
  const lists = [
    brief.agents.page(),
    brief.sessions.list(),
    brief.approvals.list(),
    brief.hosts.list(),
    brief.hosts.state('nobody'),
  ];
  const said = {
    reason: expect.objectContaining({
      code: 'no_server',
      facts: expect.objectContaining({ address }) as object,
    }) as object,
  };
  expect(await Promise.allSettled(lists)).toMatchObject(lists.map(() => said));
  expect(hasEnded).toBe(false);
  await engine.startServer();
  await patient.session(session).close('over');
  await ended;
  expect(await patient.session(session).state()).toMatchObject({ status: 'closed' });
}, 120_000);

test('a follower that is aborted while the server is away ends at once and without an error', async () => {
  let isWaiting = false;
  const onDelay = (): void => void (isWaiting = true);
  const client = new HoldfastClient(engine.client.temporal, engine.server().address, { onDelay });
  const agent = client.agent(uniqueId('followed'));
  await agent.start({ mode: 'conversation', model: 'scripted:/none.yaml' });
  const over = new AbortController();
  let looks = 0;
  const follow = async (): Promise<string> => {
    for await (const { message } of agent.follow(over.signal, { onState: () => (looks += 1) }))
      throw new Error(`nothing was said: ${message.role}`);
    return 'over';
  };
  const following = follow();
  await until(() => looks > 0);
  await engine.killServer();
  await until(() => isWaiting);
  over.abort();
  expect(await Promise.race([following, until(() => false, 5_000).catch(() => 'it goes on')])).toBe('over');
  await engine.startServer();
  await agent.stop();
}, 120_000);

test('a wait for the end of a session that never was says so', async () => {
  const nobody = brief.session({ agent: uniqueId('nobody'), session: 0 });
  await expect(nobody.closed()).rejects.toMatchObject({ code: 'not_found' });
}, 60_000);

test('a client with its defaults is told `no_server` by a server that is frozen', async () => {
  const { address, identity } = engine.server();
  const client = await HoldfastClient.connect({ address }, {});
  const agent = client.agent(uniqueId('a'));
  process.kill(identity.pid, 'SIGSTOP');
  try {
    const requests = [
      client.agents.page(),
      client.sessions.list(),
      client.approvals.list(),
      client.hosts.list(),
      client.hosts.state('nobody'),
      client.timeLine(agent.id),
      agent.run(),
      agent.ownState(),
      agent.send('x'),
      agent.start({ task: 'x', model: 'm:1' }),
      client.session({ agent: agent.id, session: 0 }).exec({ code: 'true' }),
    ];
    expect(await Promise.allSettled(requests)).toMatchObject(
      requests.map(() => ({ reason: expect.objectContaining({ code: 'no_server' }) as object })),
    );
  } finally {
    process.kill(identity.pid, 'SIGCONT');
    await client.close();
  }
}, 150_000);

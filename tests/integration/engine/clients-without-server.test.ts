// What a client of the library is told while the server is away or frozen, and what outlives that.
import { HoldfastClient } from '../../../client/holdfast-client';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { uniqueId } from '../../helpers/engines/temporal';

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

test('a wait for the end of a session that never was says so', async () => {
  const nobody = brief.session({ agent: uniqueId('nobody'), session: 0 });
  await expect(nobody.closed()).rejects.toMatchObject({ code: 'not_found' });
}, 60_000);

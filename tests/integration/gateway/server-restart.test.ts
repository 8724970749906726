// The Temporal server dies under a gateway that people look through.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HoldfastClient } from '../../../client/holdfast-client';
import type { Gateway } from '../../../gateway/gateway';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { ApiClient, gatewayOn, readEvents, TerminalClient } from '../../helpers/gateway/gateway';
import { call, QUICK_YIELD, scratch, uniqueId } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const engine = new EngineOfItsOwn({ ownServer: true });
const files = scratch();
let client: HoldfastClient;
let gateway: Gateway;
let operator: ApiClient;
beforeAll(async () => {
  await engine.start();
  const { address } = engine.server();
  client = await HoldfastClient.connect({ address, patienceMs: 2_000 }, {});
  gateway = await gatewayOn(engine, { client });
  operator = await ApiClient.of(gateway, 'operator');
}, 60_000);
afterAll(async () => {
  await gateway.close();
  await client.close();
  files.remove();
  expect(await engine.end()).toEqual([]);
}, 60_000);

test('a frozen server: requests say within seconds that it does not answer, and are answered when it goes on', async () => {
  const { agent } = await operator.post('/v1/agents', {
    ...{ task: 'first', mode: 'conversation' },
    ...files.settings([{ text: 'over' }]),
  });
  const { pid } = engine.server().identity;
  process.kill(pid, 'SIGSTOP');
  const since = performance.now();
  try {
    const paths = ['/v1/agents', `/v1/agents/${String(agent)}`, '/v1/hosts', '/v1/approvals', '/v1/sessions'];
    const answers = await Promise.all(paths.map((path) => operator.ask('GET', path)));
    expect(performance.now() - since).toBeLessThan(30_000);
    expect(answers).toMatchObject(paths.map(() => ({ status: 503, body: { code: 'no_server' } })));
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  const asked = (): ReturnType<typeof operator.ask> => operator.ask('GET', `/v1/agents/${String(agent)}`);
  await until(async () => (await asked()).status === 200);
  expect((await asked()).body).toMatchObject({ agent });
}, 120_000);

test('SIGKILL of the server: terminals go on, requests say what is away, and a follower lacks nothing and gets nothing twice', async () => {
  const token = operator.token ?? '';
  const go = join(files.directory, 'go');
  const agent = uniqueId('e');
  const waits = `until [ -e '${go}' ]; do sleep 0.02; done; echo went`;
  const steps = ['echo before', waits, 'echo after'].map((code) => ({
    text: call('code_execution_tool', { runtime: 'terminal', code }),
  }));
  const settings = files.settings([...steps, { text: 'over' }]);
  await operator.post('/v1/agents', { id: agent, task: 'first', mode: 'conversation', ...settings });
  const seen: string[] = [];
  const following = readEvents(`${gateway.url}/v1/agents/${agent}/events`, {
    token,
    enough: ({ event, id }) => (id !== undefined && seen.push(id), event === 'turn_ended'),
  });
  const watched = uniqueId('w');
  const code = 'while read -r line; do echo "got $line"; done';
  await operator.post(`/v1/sessions/${watched}/local/0/exec`, { code, yield: QUICK_YIELD });
  const terminal = await TerminalClient.open(gateway.url, `/v1/sessions/${watched}/local/0/terminal`, {
    ...{ token, types: true },
  });
  await terminal.first('snapshot');
  // The task, the first step's two messages between two checkpoints, and the request for the second step.
  await until(() => seen.length >= 6);

  await engine.killServer();
  terminal.type('without a server\r');
  await terminal.untilShown('got without a server');
  for (const path of [`/v1/agents/${agent}`, '/v1/agents', '/v1/sessions', '/v1/inbox', '/v1/hosts'])
    expect([path, await operator.ask('GET', path)]).toMatchObject([
      path,
      { status: 503, body: { code: 'no_server', retryable: true } },
    ]);
  writeFileSync(go, '');

  await engine.startServer();
  const { events, ended } = await following;
  expect(ended).toBe(false);
  expect(seen.map((id) => id.split('@')[0])).toEqual([
    ...Array.from({ length: 12 }, (_, place) => String(place)),
    '11.end',
  ]);
  expect(events.at(-1)?.data).toMatchObject({ result: { answer: 'over' } });
  expect(await operator.get(`/v1/agents/${agent}`)).toMatchObject({ currentTurn: null });
  terminal.close();
}, 120_000);

// Terminals of a machine that listens, through a gateway on another one.
import type { Gateway } from '../../../gateway/gateway';
import { EngineOfItsOwn } from '../../helpers/engine-of-its-own';
import { ApiClient, gatewayOn, TerminalClient } from '../../helpers/gateway';
import { RemoteHost } from '../../helpers/remote-host';
import { QUICK_YIELD, uniqueId } from '../../helpers/temporal';
import { until } from '../../helpers/until';

const engine = new EngineOfItsOwn();
let pi: RemoteHost;
let gateway: Gateway;
let operator: ApiClient;
beforeAll(async () => {
  await engine.start();
  pi = new RemoteHost('pi', engine.server().address);
  await pi.serve('--listen', '127.0.0.1:0');
  const hostToken = (await pi.cli('host', 'token', 'pi')).trim();
  const listens = async (): Promise<boolean> =>
    Boolean((await engine.client.hosts.state('pi').catch(() => null))?.facts?.listens);
  await until(listens);
  gateway = await gatewayOn(engine, '127.0.0.1:0', [], { hostToken });
  operator = await ApiClient.of(gateway, 'operator');
}, 120_000);
afterAll(async () => {
  await gateway.close();
  await pi.end();
  expect(await engine.end()).toEqual([]);
}, 120_000);

test('one types and another watches, and a connection that comes back under its name types on', async () => {
  const path = `/v1/sessions/${uniqueId('far')}/pi/0`;
  await operator.post(`${path}/exec`, {
    code: 'while read -r x; do echo "got $x"; done',
    yield: { ...QUICK_YIELD, promptMs: 100 },
  });
  const open = (hello: object): Promise<TerminalClient> =>
    TerminalClient.open(gateway.url, `${path}/terminal`, { token: operator.token ?? '', ...hello });
  const client = 'ab12cd34-0000-4000-8000-000000000000';
  const first = await open({ types: true, client });
  expect(await first.first('state')).toMatchObject({ isTypist: true });
  const watcher = await open({});
  expect(await watcher.first('state')).toMatchObject({ isTypist: false });
  first.type('one\r');
  await watcher.untilShown('got one');
  expect((await (await open({ types: true })).first('refused')).problem.code).toBe('typist_busy');
  const second = await open({ types: true, client });
  expect(await second.first('state')).toMatchObject({ isTypist: true });
  second.type('two\r');
  await watcher.untilShown('got two');
  for (const one of [first, second, watcher]) one.close();
});

// Terminals over WebSocket: bytes by offset, one who types, any number who watch.
import { randomUUID } from 'node:crypto';
import { ApiClient, gatewayOn, TerminalClient } from '../../helpers/gateway/gateway';
import { GatewayOfItsOwn } from '../../helpers/gateway/gateway-of-its-own';
import { QUICK_YIELD, uniqueId } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const own = new GatewayOfItsOwn();
const { engine } = own;
beforeAll(() => own.start(), 60_000);
afterAll(() => own.end(), 60_000);

/** Starts code that keeps running, and returns the path of its terminal. */
async function running(code: string): Promise<string> {
  const session = `/v1/sessions/${uniqueId('t')}/local/0`;
  await own.api.post(`${session}/exec`, { code, yield: { ...QUICK_YIELD, promptMs: 100 } });
  return `${session}/terminal`;
}

const open = (
  path: string,
  hello: Partial<Parameters<typeof TerminalClient.open>[2]> = {},
): Promise<TerminalClient> =>
  TerminalClient.open(own.gateway.url, path, { token: own.api.token ?? '', ...hello });

test('a person sees the screen, types, and sees what the program answers', async () => {
  const t = await open(await running('read -p "name? " x; echo "hi $x"; read y'), { types: true });
  expect((await t.first('snapshot')).data).toContain('name? ');
  expect(await t.first('state')).toMatchObject({ isTypist: true, cols: 80, rows: 24 });
  t.type('Bob\r');
  await t.untilShown('hi Bob');
  expect(await t.first('typed')).toMatchObject({ typed: true });
  t.close();
});

test('a client that comes back with its offset gets each byte once, on another gateway, too', async () => {
  const path = await running('while read -r n; do seq "$n"; done');
  const before = await gatewayOn(engine);
  const other = await gatewayOn(engine);
  try {
    const first = await TerminalClient.open(before.url, path, { token: own.api.token ?? '', types: true });
    const { at } = await first.first('snapshot');
    first.type('100\r');
    await first.untilShown('\n100\r\n');
    await before.close();
    await until(() => first.closed !== undefined);
    const second = await TerminalClient.open(other.url, path, {
      ...{ token: own.api.token ?? '', types: true, take: true },
      from: at + 10,
    });
    second.type('200\r');
    await second.untilShown('\n200\r\n');
    expect(second.said.some(({ kind }) => kind === 'snapshot')).toBe(false);
    expect(second.from).toBe(at + 10);
    const log = await fetch(`${other.url}${path.replace('terminal', 'log')}?from=${at}`, {
      headers: { Authorization: `Bearer ${own.api.token}` },
    });
    const bytes = Buffer.from(await log.arrayBuffer());
    expect(second.bytes.equals(bytes.subarray(10))).toBe(true);
    expect(bytes.subarray(0, first.bytes.length).equals(first.bytes)).toBe(true);
    second.close();
  } finally {
    await other.close();
  }
});

test('one types and others watch; taking over the keyboard is seen by both', async () => {
  const path = await running('cat');
  const [first, watcher] = [await open(path, { types: true }), await open(path)];
  await first.first('snapshot');
  expect(await watcher.first('state')).toMatchObject({ isTypist: false });
  watcher.type('not me\r');
  const refused = await open(path, { types: true });
  expect((await refused.first('refused')).problem).toMatchObject({ code: 'typist_busy' });
  await until(() => refused.closed !== undefined);
  const second = await open(path, { types: true, take: true });
  await until(() => first.said.some((one) => one.kind === 'state' && !one.isTypist && one.typist !== null));
  second.type('mine\r');
  await watcher.untilShown('mine');
  expect(watcher.bytes.includes('not me')).toBe(false);
  const late = first.type('too late\r');
  await until(() => first.said.some((one) => one.kind === 'typed' && one.id === late && !one.typed));
  for (const client of [first, second, watcher]) client.close();
});

test('the same input sent again types nothing, over another gateway, too; other bytes under its id are refused', async () => {
  const path = await running('cat');
  const before = await open(path, { types: true });
  await before.first('snapshot');
  before.type('first\r', 'the-input-before-it');
  await before.untilShown('first\r\nfirst\r\n');
  before.close();
  const other = await gatewayOn(engine);
  try {
    const t = await TerminalClient.open(other.url, path, {
      ...{ token: own.api.token ?? '', types: true, take: true },
    });
    await t.first('snapshot');
    t.type('first\r', 'the-input-before-it');
    t.type('once\r', 'the-same-input-again');
    t.type('once\r', 'the-same-input-again');
    t.type('end\r');
    const times = (word: string): number => t.bytes.toString('utf8').split(word).length - 1;
    // As typed, and as `cat` says it.
    await until(() => times('end') === 2);
    expect(times('once')).toBe(2);
    expect(times('first')).toBe(0);
    t.type('others\r', 'the-same-input-again');
    expect((await t.first('refused')).problem).toMatchObject({ code: 'id_conflict' });
    t.close();
  } finally {
    await other.close();
  }
});

test('keys for a command are typed only while it runs', async () => {
  const path = await running('while read -r x; do echo "got $x"; done');
  const t = await open(path, { types: true });
  const { running: command } = await t.first('state');
  const type = (data: string, meant: string): void =>
    t.send({
      ...{ kind: 'input', id: randomUUID(), data: Buffer.from(data).toString('base64') },
      command: meant,
    });
  type('lost\r', `${command}-2`);
  expect(await t.first('typed')).toMatchObject({ typed: false });
  type('meant\r', String(command));
  await t.untilShown('got meant');
  expect(t.bytes.includes('lost')).toBe(false);
  t.close();
});

test('a client whose lost connection still has the keyboard types on, and no other client does', async () => {
  const path = await running('cat');
  const client = randomUUID();
  const lost = await open(path, { types: true, client });
  await lost.first('snapshot');
  const other = await open(path, { types: true, client: randomUUID() });
  expect((await other.first('refused')).problem).toMatchObject({ code: 'typist_busy' });
  const again = await open(path, { types: true, client });
  expect(await again.first('state')).toMatchObject({ isTypist: true });
  again.type('mine\r');
  await again.untilShown('mine\r\nmine');
  const late = lost.type('late\r');
  await until(() => lost.said.some((one) => one.kind === 'typed' && one.id === late && !one.typed));
  for (const one of [lost, again]) one.close();
});

test('a client that does not acknowledge stops the stream, and not the program', async () => {
  const session = `/v1/sessions/${uniqueId('t')}/local/0`;
  await own.api.post(`${session}/exec`, {
    code: 'read x; seq 1000000; echo over; read y',
    yield: QUICK_YIELD,
  });
  const lazy = await open(`${session}/terminal`, { acks: false, types: true });
  await lazy.first('snapshot');
  const eager = await open(`${session}/terminal`);
  await eager.first('snapshot');
  lazy.type('\r');
  await eager.untilShown('over');
  expect(lazy.bytes.length).toBeLessThan(3 * 1024 * 1024);
  lazy.send({ kind: 'ack', to: (lazy.from ?? 0) + lazy.bytes.length });
  const before = lazy.bytes.length;
  await until(() => lazy.bytes.length > before);
  for (const client of [lazy, eager]) client.close();
}, 60_000);

test('a terminal outlives the SIGKILL of the worker', async () => {
  const t = await open(await running('cat'), { types: true });
  await t.first('snapshot');
  await engine.killWorker();
  t.type('still here\r');
  await t.untilShown('still here\r\nstill here');
  await engine.startWorker();
  t.type('and after\r');
  await t.untilShown('and after\r\nand after');
  t.close();
});

test('a viewer watches, and is refused the keyboard with a reason', async () => {
  const viewer = await ApiClient.of(own.gateway, 'viewer');
  const path = await running('cat');
  const watching = await open(path, { token: viewer.token ?? '' });
  await watching.first('snapshot');
  const typing = await open(path, { token: viewer.token ?? '', types: true });
  expect((await typing.first('refused')).problem).toMatchObject({ code: 'access_denied' });
  await until(() => typing.closed?.code === 1008);
  watching.close();
});

test.each([
  ['without a good token', 'access_needed', { token: 'hf_wrong' }],
  ['before hello', 'invalid_input', { kind: 'ack' as 'hello', to: 0 }],
  ['with an absurd size', 'invalid_input', { cols: 0 }],
])('a client %s is told why', async (_what, code, hello) => {
  const t = await open(await running('cat'), hello);
  expect((await t.first('refused')).problem).toMatchObject({ code });
  await until(() => t.closed !== undefined);
});

test('a token that is revoked ends its terminals', async () => {
  const { token, stored } = await own.gateway.tokens.create({
    name: 'x',
    role: 'operator',
    agents: ['*'],
    validMs: null,
  });
  const t = await open(await running('cat'), { token });
  await t.first('snapshot');
  await own.gateway.tokens.revoke(stored.id);
  expect((await t.first('refused')).problem).toMatchObject({ code: 'access_needed' });
});

test('of a session whose terminal is gone, its last screen is shown', async () => {
  const path = await running('echo the last words');
  await own.api.post(path.replace('terminal', 'close'));
  await until(
    async () => (await own.api.get<{ status: string }>(path.replace('/terminal', ''))).status === 'closed',
  );
  const t = await open(path);
  expect((await t.first('snapshot')).data).toContain('the last words');
  await t.first('ended');
});

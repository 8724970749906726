// Terminals of another machine over WebSocket, while its host goes away and comes back.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { logEnd, readWhole } from '../../../exec/output/log-reader';
import type { HolderRecord } from '../../../exec/client/holder-client';
import { sessionPaths } from '../../../exec/session-paths';
import type { Gateway } from '../../../gateway/gateway';
import { readJson } from '../../../system/json-file';
import { makeFolder } from '../../../system/make-folder';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { ApiClient, gatewayTo, TerminalClient } from '../../helpers/gateway/gateway';
import { RemoteHost } from '../../helpers/hosts/remote-host';
import { QUICK_YIELD, uniqueId } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';
import { fileNeeds } from '../../helpers/run/programs';

fileNeeds('openssl');

jest.setTimeout(180_000);

const engine = new EngineOfItsOwn();
let far: RemoteHost;
let gateway: Gateway;
let operator: ApiClient;
beforeAll(async () => {
  await engine.start();
  far = new RemoteHost('far', engine.server().address);
  gateway = await gatewayTo(far, engine);
  operator = await ApiClient.of(gateway, 'operator');
}, 120_000);
afterAll(async () => {
  await gateway.close();
  await far.end();
  expect(await engine.end()).toEqual([]);
}, 60_000);

/** Starts a program that counts all the time, and says and records each line that it is given. */
async function counting(agent: string): Promise<string> {
  const session = `/v1/sessions/${agent}/far/0`;
  // Not `read -t`: under load it may give up within a line.
  const code =
    'while sleep 0.2; do echo "tick $((n+=1))"; done & ' +
    `until [ "$line" = over ]; do read -r line; echo "$line" >> ${agent}; echo "got $line"; done; kill $!`;
  await operator.post(`${session}/exec`, { code, yield: QUICK_YIELD });
  return `${session}/terminal`;
}

const linesOf = (agent: string): string[] => readFileSync(join(far.root, agent), 'utf8').trim().split('\n');

type Hello = Partial<Parameters<typeof TerminalClient.open>[2]>;
const open = (path: string, hello: Hello = {}): Promise<TerminalClient> =>
  TerminalClient.open(gateway.url, path, { token: operator.token ?? '', ...hello });
const refusalIn = ({ said }: TerminalClient): string | undefined =>
  said.map((one) => (one.kind === 'refused' ? one.problem.code : undefined)).find(Boolean);
const endOf = ({ from, bytes }: TerminalClient): number => (from ?? 0) + bytes.length;

/** Ends with a reason that its client can read. */
async function isToldAway(client: TerminalClient, reason: string): Promise<void> {
  await until(() => client.closed !== undefined, 60_000);
  expect(client.said.at(-1)).toMatchObject({
    kind: 'refused',
    problem: { code: 'host_unreachable', detail: expect.stringContaining(reason) as string },
  });
  expect(client.closed).toEqual({ code: 1008, reason: 'host_unreachable' });
}

/** As the page does: again and again, until it is let in. Also returns why it was not. */
async function back(
  path: string,
  hello: Hello,
): Promise<{ client: TerminalClient; refusals: Set<string | undefined> }> {
  const refusals = new Set<string | undefined>();
  let client: TerminalClient | undefined;
  await until(async () => {
    const one = await open(path, hello);
    await until(() => one.said.length > 0);
    if (refusalIn(one) === undefined) client = one;
    else refusals.add(refusalIn(one));
    return client !== undefined;
  }, 60_000);
  return { client: client as TerminalClient, refusals };
}

/** What the two connections of one client got is a part of the log: each byte once. */
function expectEachByteOnce(agent: string, before: TerminalClient, after: TerminalClient): void {
  const { log } = sessionPaths(far.dataDir, { agent, host: 'far', session: 0 });
  const from = before.from ?? 0;
  expect(after.from).toBe(endOf(before));
  expect(after.said.some(({ kind }) => kind === 'snapshot')).toBe(false);
  const bytes = Buffer.concat([before.bytes, after.bytes]);
  expect(logEnd(log)).toBeGreaterThanOrEqual(from + bytes.length);
  expect(bytes.toString()).toBe(readWhole(log, from, from + bytes.length).toString());
}

test('one types and another watches, and a connection that comes back under its name types on', async () => {
  const session = `/v1/sessions/${uniqueId('far')}/far/0`;
  await operator.post(`${session}/exec`, {
    code: 'while read -r x; do echo "got $x"; done',
    yield: { ...QUICK_YIELD, promptMs: 100 },
  });
  const path = `${session}/terminal`;
  const client = 'ab12cd34-0000-4000-8000-000000000000';
  const first = await open(path, { types: true, client });
  expect(await first.first('state')).toMatchObject({ isTypist: true });
  const watcher = await open(path);
  expect(await watcher.first('state')).toMatchObject({ isTypist: false });
  first.type('one\r');
  await watcher.untilShown('got one');
  expect((await (await open(path, { types: true })).first('refused')).problem.code).toBe('typist_busy');
  const second = await open(path, { types: true, client });
  expect(await second.first('state')).toMatchObject({ isTypist: true });
  second.type('two\r');
  await watcher.untilShown('got two');
  for (const one of [first, second, watcher]) one.close();
});

test('a killed host ends no terminal: its people are told, come back, and get each byte and each key once', async () => {
  const agent = uniqueId('k');
  const path = await counting(agent);
  const [typist, watcher] = [await open(path, { types: true }), await open(path)];
  expect(await typist.first('state')).toMatchObject({ isTypist: true });
  expect(await watcher.first('state')).toMatchObject({ isTypist: false });
  await watcher.first('snapshot');
  typist.type('first\r');
  for (const one of [typist, watcher]) await one.untilShown('got first');
  await far.kill();
  for (const one of [typist, watcher]) await isToldAway(one, 'its connection was lost');
  await isToldAway(await open(path), 'Host far cannot be reached');
  await far.serve('--listen', '127.0.0.1:0');
  const watching = await back(path, { from: endOf(watcher) });
  const typing = await back(path, { from: endOf(typist), types: true });
  expect([...watching.refusals, ...typing.refusals].filter((code) => code !== 'host_unreachable')).toEqual(
    [],
  );
  typing.client.type('over\r');
  for (const { client } of [typing, watching]) await client.untilShown('got over');
  expectEachByteOnce(agent, watcher, watching.client);
  expectEachByteOnce(agent, typist, typing.client);
  expect(linesOf(agent)).toEqual(['first', 'over']);
  for (const { client } of [typing, watching]) client.close();
});

test('of a host that falls silent its people are told; what they type meanwhile is typed once, or they know', async () => {
  const agent = uniqueId('s');
  const path = await counting(agent);
  const [typist, watcher] = [await open(path, { types: true }), await open(path)];
  await watcher.first('snapshot');
  typist.type('first\r');
  for (const one of [typist, watcher]) await one.untilShown('got first');
  let id: string;
  far.fallSilent();
  try {
    id = typist.type('meanwhile\r');
    for (const one of [typist, watcher]) await isToldAway(one, 'it has fallen silent');
    // It is not said that it was typed, nor that it was not.
    expect(typist.said.filter((one) => one.kind === 'typed' && one.id === id)).toEqual([]);
    await isToldAway(await open(path), 'Host far cannot be reached');
  } finally {
    far.goOn();
  }
  const watching = await back(path, { from: endOf(watcher) });
  const typing = await back(path, { from: endOf(typist), types: true });
  expect([...watching.refusals, ...typing.refusals].filter((code) => code !== 'host_unreachable')).toEqual(
    [],
  );
  const { client } = typing;
  client.type('meanwhile\r', id);
  client.type('over\r');
  await until(() => client.said.some((one) => one.kind === 'typed' && one.id === id && one.typed));
  for (const one of [client, watching.client]) await one.untilShown('got over');
  expectEachByteOnce(agent, watcher, watching.client);
  expectEachByteOnce(agent, typist, client);
  expect(linesOf(agent)).toEqual(['first', 'meanwhile', 'over']);
  for (const one of [client, watching.client]) one.close();
});

test('a gateway that falls silent keeps no keyboard: its host notices, and somebody else types', async () => {
  const agent = uniqueId('q');
  const path = await counting(agent);
  process.env.HOLDFAST_HOST_TOKEN = (await far.cli('host', 'token', 'far')).trim();
  const serving = engine.spawnCli(['serve', '--listen', '127.0.0.1:0', '--json']);
  delete process.env.HOLDFAST_HOST_TOKEN;
  const ended = once(serving, 'exit');
  try {
    const [said] = (await once(serving.stdout ?? serving, 'data')) as [Buffer];
    const { url } = JSON.parse(said.toString()) as { url: string };
    const silent = await TerminalClient.open(url, path, { token: operator.token ?? '', types: true });
    expect(await silent.first('state')).toMatchObject({ isTypist: true });
    serving.kill('SIGSTOP');
    const { client, refusals } = await back(path, { types: true });
    expect([...refusals]).toEqual(['typist_busy']);
    client.type('over\r');
    await client.untilShown('got over');
    client.close();
    silent.close();
  } finally {
    serving.kill('SIGKILL');
    await ended;
  }
});

test('a terminal that is gone on another machine has ended: its host is there', async () => {
  const agent = uniqueId('g');
  const path = await counting(agent);
  const watcher = await open(path);
  await watcher.untilShown('tick');
  const { holder } = sessionPaths(far.dataDir, { agent, host: 'far', session: 0 });
  const { pid } = readJson<HolderRecord>(holder)?.identity ?? { pid: 0 };
  process.kill(pid, 'SIGKILL');
  await until(() => watcher.closed !== undefined);
  expect(watcher.said.at(-1)).toEqual({ kind: 'ended' });
  expect(watcher.closed?.code).toBe(1000);
  const late = await open(path);
  expect((await late.first('snapshot')).data).toContain('tick');
  await late.first('ended');
});

test('a terminal that is just opening on another machine is not there yet: it has not ended', async () => {
  const agent = uniqueId('g');
  makeFolder(sessionPaths(far.dataDir, { agent, host: 'far', session: 0 }).directory);
  const early = await open(`/v1/sessions/${agent}/far/0/terminal`);
  expect((await early.first('refused')).problem).toMatchObject({ code: 'not_found' });
  const watcher = await open(await counting(agent));
  await watcher.untilShown('tick');
  watcher.close();
});

// Webhooks: each event arrives, signed, whatever was away in between.
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import { WebhookWorkflows } from '../../../../client/webhooks/webhook-workflows';
import { readJson } from '../../../../system/json-file';
import type { HolderRecord } from '../../../../exec/client/holder-client';
import { sessionPaths } from '../../../../exec/session-paths';
import { newWebhookSecret } from '../../../../system/webhooks/webhook-store';
import { ApiClient, type Json } from '../../../helpers/gateway/gateway';
import { bytesIn } from '../../../helpers/engines/bytes-in';
import { GatewayOfItsOwn } from '../../../helpers/gateway/gateway-of-its-own';
import { call, uniqueId, type Reply } from '../../../helpers/engines/temporal';
import { until } from '../../../helpers/until';
import { WebhookReceiver } from '../../../helpers/services/webhook-receiver';

jest.setTimeout(300_000);

/** However slow the machine is, a view says that a program waits. */
const UNTIL_PROMPT = { firstOutputMs: 60_000, betweenOutputMs: 60_000, maxMs: 60_000, promptMs: 500 };
const own = new GatewayOfItsOwn();
const { engine, files } = own;
const receivers: WebhookReceiver[] = [];
const configured = { secret: newWebhookSecret(), receiver: new WebhookReceiver() };

beforeAll(async () => {
  await configured.receiver.open();
  configured.receiver.secret = configured.secret;
  receivers.push(configured.receiver);
  writeFileSync(join(engine.dataDir, 'secret'), `${configured.secret}\n`, { mode: 0o600 });
  await own.start({
    config:
      `[fetch]\nallow_private = ["127.0.0.1"]\n[policy.agents]\nasked = "ask"\n` +
      `[webhooks.configured]\nurl = "${configured.receiver.url}"\nagents = ["configured-*"]\nsecret_file = "secret"\n`,
    role: 'admin',
  });
}, 120_000);
afterAll(() => own.end(), 120_000);
afterAll(() => Promise.all(receivers.map((receiver) => receiver.close())), 120_000);
afterEach(() => expect(receivers.flatMap(({ faults }) => faults)).toEqual([]));

/** A webhook for these agents, and its receiver. */
async function webhook(settings: Json = {}): Promise<{ id: string; receiver: WebhookReceiver }> {
  const receiver = await WebhookReceiver.start();
  receivers.push(receiver);
  const body = { url: receiver.url, ...settings };
  const { id, secret } = await own.api.post<{ id: string; secret: string }>('/v1/webhooks', body);
  receiver.secret = secret;
  return { id, receiver };
}

interface Entry {
  id: string;
  waiting: number | null;
  failing: { since: string; attempts: number; reason: string } | null;
}
const entryOf = async (id: string): Promise<Entry | undefined> =>
  (await own.api.get<{ items: Entry[] }>('/v1/webhooks')).items.find((one) => one.id === id);

async function start(agent: string, replies: Reply[]): Promise<void> {
  await own.api.post('/v1/agents', {
    ...{ id: agent, task: 'first', mode: 'conversation', ...files.settings(replies) },
    yield: UNTIL_PROMPT,
  });
}

const exec = (code: string): Reply => ({ text: call('code_execution_tool', { runtime: 'terminal', code }) });

test('each kind of event arrives, signed, with what it is about and no output', async () => {
  const agent = uniqueId('all');
  const { receiver } = await webhook({ agents: [`${agent}*`, 'asked'] });
  await start(agent, [exec('read -p "secret words? " x'), { text: 'done' }]);
  expect((await receiver.first('agent.waiting_input')).data).toMatchObject({
    ...{ agent, for: 'input', workflowId: `exec/${agent}/local/0`, session: { host: 'local', session: 0 } },
    since: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string,
  });
  expect((await receiver.first('turn.ended')).data).toMatchObject({
    ...{
      agent,
      turn: 1,
      workflowId: `agent/${agent}/turn/1`,
      how: 'completed',
      reason: 'answered',
      error: null,
    },
  });
  const held = own.api.ask('POST', '/v1/sessions/asked/local/0/exec', { code: 'echo held' });
  const approval = await receiver.first('agent.waiting_approval');
  expect(approval.data).toMatchObject({
    agent: 'asked',
    for: 'approval',
    workflowId: 'exec/asked/local/0',
  });
  const { items } = await own.api.get<{ items: { id: string; key: string }[] }>('/v1/approvals?agent=asked');
  expect(items.map(({ id }) => id)).toEqual([approval.data.id]);
  await own.api.post(`/v1/approvals/${String(items[0]?.key)}/deny`, {});
  await held;
  killHolder(agent, 0);
  expect((await receiver.first('session.lost')).data).toMatchObject({
    ...{ agent, session: { host: 'local', session: 0 }, workflowId: `exec/${agent}/local/0` },
  });
  await own.api.post(`/v1/agents/${agent}/stop`, { reason: 'enough' });
  expect((await receiver.first('agent.ended')).data).toMatchObject({
    agent,
    how: 'completed',
    reason: 'answered',
  });
  expect(JSON.stringify(receiver.events)).not.toContain('secret words');
  expect(new Set(receiver.events.map(({ id }) => id)).size).toBe(receiver.events.length);
});

function killHolder(agent: string, session: number): void {
  const { holder } = sessionPaths(engine.dataDir, { agent, host: 'local', session });
  const record = readJson<HolderRecord>(holder);
  if (!record) throw new Error('no holder');
  process.kill(record.identity.pid, 'SIGKILL');
}

test('a receiver that refuses connections, then answers 500, gets every event once it is well', async () => {
  const agent = uniqueId('down');
  const { id, receiver } = await webhook({ agents: [agent], events: ['turn.ended'] });
  await receiver.close();
  await start(agent, [
    { text: '1' },
    { text: '2' },
    { text: '3' },
    { text: '4' },
    { text: '5' },
    { text: '6' },
  ]);
  for (let turn = 2; turn <= 6; turn++)
    await own.api.post(`/v1/agents/${agent}/messages`, { message: `m${turn}` });
  await until(async () => (await entryOf(id))?.waiting === 6, 60_000);
  await until(async () => /ECONNREFUSED/.test((await entryOf(id))?.failing?.reason ?? ''), 60_000);
  receiver.status = 500;
  await receiver.open();
  await until(async () => /it answers 500/.test((await entryOf(id))?.failing?.reason ?? ''), 100_000);
  const { failing } = (await entryOf(id)) as Entry;
  expect(failing?.attempts).toBeGreaterThan(1);
  expect(Date.parse(failing?.since ?? '')).toBeLessThan(Date.now());
  receiver.status = 204;
  await until(() => turnsOf(receiver).size === 6, 150_000);
  await until(async () => (await entryOf(id))?.waiting === 0, 60_000);
  expect(await entryOf(id)).toMatchObject({ failing: null });
});

const turnsOf = (receiver: WebhookReceiver): Set<unknown> =>
  new Set(receiver.of('turn.ended').map(({ data }) => data.turn));

test('SIGKILL of the worker loses no event, and what is sent again has the same id', async () => {
  const agent = uniqueId('killed');
  const { id, receiver } = await webhook({ agents: [agent], events: ['turn.ended', 'agent.waiting_input'] });
  receiver.status = 'never';
  await start(agent, [{ text: '1' }, exec('read x'), { text: '2' }, { text: '3' }]);
  await until(() => receiver.asked.length > 0, 60_000);
  await engine.killWorker();
  await engine.startWorker();
  await own.api.post(`/v1/agents/${agent}/messages`, { message: 'two' });
  await until(async () => (await entryOf(id))?.waiting === 3, 60_000);
  await engine.killWorker();
  receiver.status = 204;
  await engine.startWorker();
  await own.api.post(`/v1/agents/${agent}/messages`, { message: 'three' });
  await until(() => turnsOf(receiver).size === 3 && receiver.of('agent.waiting_input').length > 0, 150_000);
  // Three ends and one wait, of which some were sent more than once.
  expect(new Set(receiver.asked).size).toBe(4);
  expect(receiver.asked.length).toBeGreaterThan(4);
  expect(new Set(receiver.events.map(({ id }) => id)).size).toBe(4);
});

test('a wait that began and ended while nobody looked is told all the same', async () => {
  const agent = uniqueId('brief');
  const { id, receiver } = await webhook({ agents: [agent], events: ['agent.waiting_input'] });
  // Without its settings, the webhook looks in vain.
  const settings = join(engine.dataDir, 'webhooks', 'webhooks.json');
  renameSync(settings, `${settings}.away`);
  const workflow = engine.client.temporal.workflow.getHandle(`webhook/${id}`);
  await until(async () =>
    ((await workflow.describe()).raw.pendingActivities ?? []).some(({ lastFailure }) => lastFailure),
  );
  const { webhooks } = engine.client;
  await until(async () => (await webhooks.progress(id)).failing?.reason.includes(id) === true, 60_000);
  const session = `/v1/sessions/${agent}/local/0`;
  await own.api.post(`${session}/exec`, { code: 'read x; read y', yield: UNTIL_PROMPT });
  for (const keyboard of ['x', 'y'])
    await own.api.post(`${session}/input`, { keyboard, yield: UNTIL_PROMPT });
  await until(async () => (await own.api.get<{ status: string }>(session)).status === 'idle');
  renameSync(`${settings}.away`, settings);
  await until(() => receiver.events.length === 2, 120_000);
  expect(receiver.events.map(({ data }) => data.workflowId)).toEqual(Array(2).fill(`exec/${agent}/local/0`));
});

test('a receiver that never answers holds up no other webhook', async () => {
  const agent = uniqueId('hung');
  const settings = { agents: [agent], events: ['turn.ended'] };
  const hung = await webhook(settings);
  hung.receiver.status = 'never';
  const other = await webhook(settings);
  await start(
    agent,
    Array.from({ length: 8 }, (_, at) => ({ text: String(at) })),
  );
  for (let turn = 2; turn <= 8; turn++)
    await own.api.post(`/v1/agents/${agent}/messages`, { message: `m${turn}` });
  await until(() => turnsOf(other.receiver).size === 8, 120_000);
  expect(hung.receiver.events).toEqual([]);
  await until(async () => (await entryOf(hung.id))?.waiting === 8);
});

test('events that the receiver never takes hold up none of the others, and are sent again', async () => {
  const agent = uniqueId('poison');
  const { id, receiver } = await webhook({ agents: [agent], events: ['turn.ended'] });
  // As many as are sent at once, and more.
  receiver.refuses = ({ data }) => Number(data.turn) <= 5;
  await start(
    agent,
    Array.from({ length: 7 }, (_, at) => ({ text: String(at) })),
  );
  for (let turn = 2; turn <= 7; turn++)
    await own.api.post(`/v1/agents/${agent}/messages`, { message: `m${turn}` });
  await until(() => turnsOf(receiver).size === 2, 120_000);
  await until(async () => (await entryOf(id))?.waiting === 5, 60_000);
  await until(async () => /it answers 413/.test((await entryOf(id))?.failing?.reason ?? ''), 60_000);
  receiver.refuses = () => false;
  await until(() => turnsOf(receiver).size === 7, 150_000);
});

test('a webhook reaches no private address that is not opened, and follows no redirect', async () => {
  const agent = uniqueId('guard');
  const settings = { agents: [agent], events: ['turn.ended'] };
  const redirecting = await webhook(settings);
  redirecting.receiver.status = 302;
  const elsewhere = await WebhookReceiver.start('0.0.0.0');
  receivers.push(elsewhere);
  elsewhere.secret = newWebhookSecret();
  // Addresses of this machine on which the receiver listens, too.
  const refused = ['127.0.0.2', '[::1]'].map((address) => elsewhere.url.replace('127.0.0.1', address));
  const ids: string[] = [];
  for (const url of refused)
    ids.push((await own.api.post<{ id: string }>('/v1/webhooks', { url, ...settings })).id);
  await start(agent, [{ text: '1' }]);
  for (const id of ids)
    await until(async () => /address is refused/.test((await entryOf(id))?.failing?.reason ?? ''), 60_000);
  await until(
    async () => /redirects are not followed/.test((await entryOf(redirecting.id))?.failing?.reason ?? ''),
    60_000,
  );
  expect(elsewhere.asked).toEqual([]);
  expect(JSON.stringify(await own.api.get('/v1/webhooks'))).not.toMatch(
    /"reason":"[^"]*(localhost|::1|hooks)/,
  );
});

test('a test is sent at once; a deleted webhook sends nothing any longer', async () => {
  const agent = uniqueId('gone');
  const { id, receiver } = await webhook({ id: uniqueId('wh'), agents: [agent] });
  const tested = await own.api.post<{ id: string }>(`/v1/webhooks/${id}/test`);
  expect(await receiver.first('webhook.test')).toMatchObject({ id: tested.id, data: { webhook: id } });
  expect(await own.api.ask('DELETE', `/v1/webhooks/${id}`)).toMatchObject({ status: 204 });
  expect(await entryOf(id)).toBeUndefined();
  const workflow = engine.client.temporal.workflow.getHandle(`webhook/${id}`);
  expect((await workflow.describe()).status.name).toBe('TERMINATED');
  expect(await own.api.ask('POST', `/v1/webhooks/${id}/test`)).toMatchObject({ status: 404 });
  // The same id again is another webhook.
  const { secret } = await own.api.post<{ secret: string }>('/v1/webhooks', {
    ...{ id, url: receiver.url, agents: [agent] },
  });
  expect(secret).not.toBe(receiver.secret);
  receiver.secret = secret;
  const again = await own.api.post<{ id: string }>(`/v1/webhooks/${id}/test`);
  await until(() => receiver.of('webhook.test').some((event) => event.id === again.id), 60_000);
});

describe('where the answer to the start of a webhook is lost', () => {
  const workflowOf = (id: string): WorkflowHandle =>
    engine.client.temporal.workflow.getHandle(`webhook/${id}`);
  const isRunning = async (id: string): Promise<boolean> =>
    (await workflowOf(id).describe()).status.name === 'RUNNING';

  /** It has started, but the gateway does not know, and perhaps cannot end it either. */
  async function lose(body: object, { isEnded }: { isEnded: boolean }): Promise<void> {
    const lost = new Error('the answer is lost');
    const started = jest.spyOn(WebhookWorkflows.prototype, 'start');
    started.mockImplementationOnce(async (...asked) => {
      await engine.client.webhooks.start(...asked);
      throw lost;
    });
    const ended = jest.spyOn(WebhookWorkflows.prototype, 'end');
    if (!isEnded) ended.mockRejectedValueOnce(lost);
    const asked = { url: 'https://example.com/', ...body };
    expect(await own.api.ask('POST', '/v1/webhooks', asked)).toMatchObject({ status: 500 });
    started.mockRestore();
    ended.mockRestore();
  }

  async function leftOver(id: string, { isEnded }: { isEnded: boolean }): Promise<void> {
    await lose({ id, agents: [id] }, { isEnded });
    expect([await entryOf(id), await isRunning(id)]).toEqual([undefined, !isEnded]);
  }

  test('nothing of it goes on', () => leftOver(uniqueId('half'), { isEnded: true }));

  test('and it goes on, the next one of its id sends nothing of the time before', async () => {
    const id = uniqueId('half');
    await leftOver(id, { isEnded: false });
    await start(id, [{ text: '1' }, { text: '2' }]);
    await until(async () => (await own.api.get(`/v1/agents/${id}`)).status === 'idle');
    const { receiver } = await webhook({ id, agents: [id], events: ['turn.ended'] });
    await own.api.post(`/v1/agents/${id}/messages`, { message: 'two' });
    await until(() => turnsOf(receiver).has(2), 60_000);
    expect(turnsOf(receiver)).toEqual(new Set([2]));
  });

  test('and it goes on with an id that nobody was told, it is in the list, and can be deleted', async () => {
    const agents = [uniqueId('nameless')];
    await lose({ agents }, { isEnded: false });
    const { items } = await own.api.get<{ items: { id: string; agents: string[] }[] }>('/v1/webhooks');
    const left = items.filter((one) => one.agents[0] === agents[0]);
    expect(left).toHaveLength(1);
    const id = left[0]?.id ?? '';
    expect(await isRunning(id)).toBe(true);
    expect(await own.api.ask('DELETE', `/v1/webhooks/${id}`)).toMatchObject({ status: 204 });
    expect(await isRunning(id)).toBe(false);
  });

  test('and it goes on, it can be deleted', async () => {
    const id = uniqueId('half');
    await leftOver(id, { isEnded: false });
    expect(await own.api.ask('DELETE', `/v1/webhooks/${id}`)).toMatchObject({ status: 204 });
    expect(await isRunning(id)).toBe(false);
    expect(await own.api.ask('DELETE', `/v1/webhooks/${id}`)).toMatchObject({ status: 404 });
  });
});

test('the webhooks of the configuration send too, and only the configuration removes them', async () => {
  const agent = uniqueId('configured');
  await start(agent, [{ text: '1' }]);
  await configured.receiver.first('turn.ended', agent);
  expect(await entryOf('configured')).toMatchObject({ source: 'config' });
  expect(await own.api.ask('DELETE', '/v1/webhooks/configured')).toMatchObject({
    ...{
      status: 400,
      body: { code: 'invalid_input', next: expect.stringContaining('[webhooks.configured]') as string },
    },
  });
});

test('a secret is shown once, by the answer that creates it, and is in no history', async () => {
  const { id, receiver } = await webhook({ events: ['turn.ended'] });
  const agent = uniqueId('secret');
  await start(agent, [{ text: '1' }]);
  await receiver.first('turn.ended', agent);
  const histories = await Promise.all(
    [id, 'configured'].map((one) =>
      engine.client.temporal.workflow.getHandle(`webhook/${one}`).fetchHistory(),
    ),
  );
  const recorded = bytesIn(histories);
  // The control: what is recorded is found by the same search.
  expect(recorded).toContain(agent);
  const said = `${recorded}\n${JSON.stringify([await own.api.get('/v1/webhooks'), receiver.events])}`;
  for (const secret of [receiver.secret, configured.secret])
    expect(said).not.toContain(secret.slice('whsec_'.length));
  expect(recorded).not.toContain(receiver.url);
  const taken = await own.api.ask('POST', '/v1/webhooks', { id, url: receiver.url, secret: 'whsec_short' });
  expect(taken.status).toBe(400);
  expect(JSON.stringify(taken.body)).not.toContain('whsec_short');
});

test.each(['viewer', 'operator'] as const)(
  'a %s neither creates, reads, tests nor deletes webhooks',
  async (role) => {
    const caller = await ApiClient.of(own.gateway, role);
    for (const [method, path] of [
      ['GET', '/v1/webhooks'],
      ['POST', '/v1/webhooks'],
      ['POST', '/v1/webhooks/configured/test'],
      ['DELETE', '/v1/webhooks/configured'],
    ] as const)
      expect(
        await caller.ask(method, path, method === 'POST' ? { url: 'https://example.com/' } : undefined),
      ).toMatchObject({ status: 403, body: { code: 'access_denied' } });
  },
);

test.each([
  ['no address', {}],
  ['an address of another scheme', { url: 'file:///etc/passwd' }],
  ['an address with a password', { url: 'https://me:secret@example.com/' }],
  ['an event that is none', { url: 'https://example.com/', events: ['agent.happy'] }],
  ['no event', { url: 'https://example.com/', events: [] }],
  ['a pattern with a slash', { url: 'https://example.com/', agents: ['a/*'] }],
  ['an id with a slash', { id: 'a/b', url: 'https://example.com/' }],
])('a webhook with %s is refused, without a word of the address', async (_what, body) => {
  const answer = await own.api.ask('POST', '/v1/webhooks', body);
  expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_input' } });
  expect(JSON.stringify(answer.body)).not.toContain('secret@');
});

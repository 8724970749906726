// Agents that stopped without what was asked for: in the inbox until somebody goes on or puts it away.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { AgentEntry } from '../../../client/agents/agent-directory';
import type { InboxItem } from '../../../contracts/gateway/api';
import { ApiClient, gatewayOn } from '../../helpers/gateway/gateway';
import { GatewayOfItsOwn } from '../../helpers/gateway/gateway-of-its-own';
import { call, uniqueId } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const own = new GatewayOfItsOwn();
const { engine, files } = own;
beforeAll(() => own.start(), 60_000);
afterAll(() => own.end(), 60_000);

const items = async (agent: string): Promise<InboxItem[]> =>
  (await own.api.get<{ items: InboxItem[] }>('/v1/inbox')).items.filter((item) => item.agent === agent);
const listed = async (agent: string): Promise<AgentEntry | undefined> =>
  (await own.api.get<{ items: AgentEntry[] }>('/v1/agents?ended=true')).items.find(({ id }) => id === agent);

/** A file with one reply as a model, which can be replaced. */
function scripted(reply: object): { model: string; rewrite: (other: object) => void } {
  const path = join(files.directory, `${uniqueId('replies')}.yaml`);
  const rewrite = (other: object): void => writeFileSync(path, stringify([other]));
  rewrite(reply);
  return { model: `scripted:${path}`, rewrite };
}

async function failed(agent: string): Promise<InboxItem> {
  await until(async () => (await items(agent))[0]?.failure !== undefined);
  const [item] = await items(agent);
  if (!item) throw new Error('it is gone again');
  return item;
}
const gone = (agent: string): Promise<void> => until(async () => (await items(agent)).length === 0);

test('a conversation whose turn failed is in the inbox and in the list with its reason, and a retry sends its message again', async () => {
  const agent = uniqueId('conv');
  const { model, rewrite } = scripted({ fail: 'no provider' });
  await own.api.post('/v1/agents', { id: agent, mode: 'conversation', task: 'Say it.', model });
  expect(await failed(agent)).toMatchObject({
    ...{ kind: 'failed', text: 'stopped without an answer: model failed' },
    run: { isOpen: true, turn: 1, parent: null },
    failure: { code: 'model_failed', next: expect.stringMatching(/\S/) as string },
  });
  expect(await listed(agent)).toMatchObject({
    ...{ state: 'idle', waitsFor: 'retry', failure: { turn: 1, why: 'model_failed' } },
  });
  rewrite({ text: 'now it works' });
  expect(await own.api.post(`/v1/agents/${agent}/retry`, {})).toEqual({ agent });
  await gone(agent);
  await until(
    async () => (await engine.client.agent(agent).ownState()).lastResult?.answer === 'now it works',
  );
  const { messages } = await engine.client.agent(agent).transcript();
  expect(messages.filter(({ role }) => role === 'user')).toEqual([
    { role: 'user', text: 'Say it.' },
    { role: 'user', text: 'Say it.' },
  ]);
  await until(async () => (await listed(agent))?.failure === null);
  await engine.client.agent(agent).stop();
}, 60_000);

const step = { text: call('list_dir', { dir_path: '/' }) };

test('a conversation that stopped at its step limit can be dismissed; that one is dismissed, a later one is not', async () => {
  const agent = uniqueId('limit');
  const settings = files.settings([step, step, step]);
  await own.api.post('/v1/agents', {
    ...{ id: agent, mode: 'conversation', task: 'Look.', limits: { steps: 1 } },
    ...settings,
  });
  const { run, failure } = await failed(agent);
  expect(failure).toMatchObject({ code: 'step_limit', next: 'Send a message to go on.' });
  const { runId } = run ?? {};
  await own.api.post(`/v1/agents/${agent}/dismiss`, { runId, turn: 7 });
  await own.api.post(`/v1/agents/${agent}/dismiss`, { runId, turn: 1 });
  await gone(agent);
  expect((await engine.client.agent(agent).ownState()).waits).toMatchObject({ for: 'message' });
  // A turn that took steps is asked to go on: its message again would have the same done twice.
  await own.api.post(`/v1/agents/${agent}/retry`, {});
  expect(await failed(agent)).toMatchObject({ run: { turn: 2 } });
  const { messages } = await engine.client.agent(agent).transcript();
  expect(messages.filter(({ role }) => role === 'user').at(-1)).toMatchObject({
    text: 'Go on where you stopped.',
  });
  await engine.client.agent(agent).stop();
  await gone(agent);
}, 60_000);

test('a task that stopped at its step limit is in the inbox, and stays dismissed for other gateways of the data folder', async () => {
  const agent = uniqueId('task');
  await own.api.post('/v1/agents', {
    id: agent,
    task: 'Look.',
    limits: { steps: 1 },
    ...files.settings([step]),
  });
  const { run } = await failed(agent);
  expect(run).toMatchObject({ isOpen: false, turn: 1 });
  expect(await listed(agent)).toMatchObject({ state: 'ended', failure: { why: 'step_limit' } });
  await own.api.post(`/v1/agents/${agent}/dismiss`, { runId: run?.runId });
  await gone(agent);
  const other = await gatewayOn(engine);
  try {
    const { items: there } = await (
      await ApiClient.of(other, 'viewer')
    ).get<{ items: InboxItem[] }>('/v1/inbox');
    expect(there.filter((item) => item.agent === agent)).toEqual([]);
  } finally {
    await other.close();
  }
}, 60_000);

test('a task that failed goes on in another agent, named after it', async () => {
  const agent = uniqueId('again');
  const { model, rewrite } = scripted({ fail: 'no provider' });
  await own.api.post('/v1/agents', { id: agent, task: 'Do it.', model });
  const { run } = await failed(agent);
  const body = { runId: run?.runId, message: 'Do it otherwise.' };
  rewrite({ text: 'done' });
  const other = await own.api.post<{ agent: string }>(`/v1/agents/${agent}/retry`, body);
  expect(other.agent).toMatch(new RegExp(`^${agent}-[0-9a-f]{6}$`));
  await gone(agent);
  await engine.client.agent(other.agent).result();
  expect(await engine.client.agent(other.agent).ownState()).toMatchObject({ mode: 'task' });
  const { messages } = await engine.client.agent(other.agent).transcript();
  expect(messages.filter(({ role }) => role === 'user').at(-1)).toMatchObject({ text: 'Do it otherwise.' });
}, 60_000);

test('why an agent failed, and what can be done, stands in ps, tree, log and send, and in their JSON', async () => {
  const agent = uniqueId('told');
  const { model } = scripted({ fail: 'no network' });
  await own.api.post('/v1/agents', { id: agent, task: 'Do it.', model });
  await failed(agent);
  // Other agents here have failed for another reason.
  const why = /model_failed: .*no network.* Next: \S/;
  const run = async (...args: string[]): Promise<string> => {
    const { stdout, stderr } = await engine.cliInTurn(args);
    return `${stdout}${stderr}`;
  };
  for (const args of [
    ['ps', '--all'],
    ['tree', agent],
  ]) {
    const lines = (await run(...args)).split('\n').filter((line) => why.test(line));
    // Its turn says it, too.
    expect([args, lines.length]).toEqual([args, 2]);
  }
  expect(await run('log', agent)).toMatch(why);
  expect(await run('send', agent, 'hello')).toMatch(
    /not_found: .* Next: It failed with model_failed: .*`holdfast fork told-\S+ NEW-ID "MESSAGE"`/,
  );
  type Failing = { workflowId: string; failure: { code: string } | null };
  const all = JSON.parse((await engine.cliInTurn(['ps', '--all', '--json'])).stdout) as Failing[];
  expect(all.find(({ workflowId }) => workflowId === `agent/${agent}`)?.failure).toMatchObject({
    ...{ code: 'model_failed', message: expect.stringContaining('no network') as string },
    next: expect.stringMatching(/\S/) as string,
  });
  expect(JSON.parse((await engine.cliInTurn(['log', agent, '--json'])).stdout)).toMatchObject({
    failure: { code: 'model_failed' },
  });
}, 90_000);

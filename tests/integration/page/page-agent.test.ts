// The page of one agent in real Chromium: what is said where, what has changed in files, and what happened when.
import { setTimeout as delay } from 'node:timers/promises';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { Locator } from 'playwright-core';
import { LiveTokens } from '../../../activities/agents/live-tokens';
import { agentWorkflowId, turnWorkflowId } from '../../../contracts/ids';
import { pageSetting, type ConsolePage } from '../../helpers/gateway/console';
import { lengthenHistory } from '../../helpers/engines/long-history';
import { longTest } from '../../helpers/run/long-run';
import { call, uniqueId, type Reply } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const setting = pageSetting();
const { files } = setting;

const terminal = (code: string): Reply => ({
  text: call('code_execution_tool', { runtime: 'terminal', code }),
});

async function start(replies: Reply[]): Promise<string> {
  const id = uniqueId('page');
  await setting.operator.post('/v1/agents', {
    ...{ id, task: 'first', mode: 'conversation' },
    ...files.settings(replies),
  });
  return id;
}

const isIdle = (id: string) => async (): Promise<boolean> =>
  (await setting.operator.get<{ status: string }>(`/v1/agents/${id}`)).status === 'idle';

const callOf = (opened: ConsolePage, text: string): Locator =>
  opened.page.getByRole('log').locator('details.call', { hasText: text });

test('each call shows its own result, though the model gives calls of two turns the same id', async () => {
  const id = await start([
    terminal('echo one-$((1 + 0))'),
    { text: 'done' },
    terminal('echo two-$((1 + 1))'),
    { text: 'again' },
  ]);
  await until(isIdle(id));
  await setting.operator.post(`/v1/agents/${id}/messages`, { message: 'second' });
  const opened = await setting.open();
  await opened.goto(`agents/${id}`);
  await opened.page.getByRole('log').getByText('again', { exact: true }).waitFor();
  const { messages } = await setting.operator.get<{ messages: { role: string; callId?: string }[] }>(
    `/v1/agents/${id}/transcript`,
  );
  const ids = messages.filter(({ role }) => role === 'tool').map(({ callId }) => callId);
  expect(ids[0]).toBe(ids[1]);
  for (const [text, own, other] of [
    ['echo one', 'one-1', 'two-2'],
    ['echo two', 'two-2', 'one-1'],
  ] as const) {
    const shown = callOf(opened, text);
    await shown.locator('summary').click();
    await shown.getByRole('region', { name: 'Result of code_execution_tool' }).getByText(own).waitFor();
    expect(await shown.innerText()).not.toContain(other);
  }
  expect(opened.faults).toEqual([]);
  await opened.close();
});

longTest(
  'the page of an agent that continues as new shows the conversation that its model sees, and forks where it says',
  async () => {
    const id = await start(['one', 'two', 'three', 'four'].map((text) => ({ text })));
    const opened = await setting.open();
    await opened.goto(`agents/${id}`);
    const shown = (text: string): Locator =>
      opened.page.getByRole('log').getByText(text, { exact: true }).first();
    await shown('one').waitFor();
    const { client } = setting.engine;
    const agent = client.agent(id);
    await agent.send('second');
    await shown('two').waitFor();
    await agent.workspace.rewind(1, { what: 'conversation' });
    await lengthenHistory(client, id);
    await agent.send('third');
    await agent.send('fourth');
    await shown('fourth').waitFor();
    await shown('second').waitFor({ state: 'detached' });
    const { messages, carried } = await agent.state();
    expect(carried).toBeGreaterThan(0);
    const last = opened.page.getByRole('log').getByRole('button', { name: 'fork from here' }).last();
    expect(await last.getAttribute('title')).toBe(
      `Start another agent with the ${messages} messages up to here`,
    );
    expect(opened.faults).toEqual([]);
    await opened.close();
  },
  180_000,
);

const PATCH = `*** Begin Patch
*** Update File: greeting.txt
@@
 hello
-wrold
+world <b>
*** Add File: second.txt
+one
+two
*** End Patch`;

test('a patch is shown file by file, with signs for what is added and removed', async () => {
  writeFileSync(join(files.directory, 'greeting.txt'), 'hello\nwrold\n');
  const id = await start([
    { text: call('apply_patch', { input: PATCH }) },
    { text: call('write_file', { file_path: join(files.directory, 'third.txt'), content: 'a\nb\nc\n' }) },
    { text: 'patched' },
  ]);
  const opened = await setting.open();
  await opened.goto(`agents/${id}`);
  await opened.page.getByRole('log').getByText('patched', { exact: true }).waitFor();
  const shown = callOf(opened, 'apply_patch');
  expect(await shown.locator('summary').innerText()).toContain('greeting.txt, second.txt');
  await shown.locator('summary').click();
  const parts = shown.locator('.file-patch');
  expect(await parts.locator('.name').allInnerTexts()).toEqual([
    'changes greeting.txt +1 -1',
    'adds second.txt +2 -0',
  ]);
  expect(await parts.nth(0).locator('del').allTextContents()).toEqual(['-wrold\n']);
  expect(await parts.nth(0).locator('ins').allTextContents()).toEqual(['+world <b>\n']);
  expect(await parts.nth(1).locator('ins').allTextContents()).toEqual(['+one\n', '+two\n']);
  const written = callOf(opened, 'write_file');
  await written.locator('summary').click();
  expect(await written.locator('ins').count()).toBe(3);
  expect(readFileSync(join(files.directory, 'greeting.txt'), 'utf8')).toBe('hello\nworld <b>\n');
  expect(await opened.barriers()).toEqual([]);
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('the time line is a list that leads to each place in the conversation, by keyboard too', async () => {
  const id = await start([terminal("read -p 'Name? ' x; echo hi $x"), { text: 'it waits' }]);
  await until(isIdle(id));
  const opened = await setting.open('viewer');
  const { page } = opened;
  await opened.goto(`agents/${id}`);
  await page.getByText('What happened, and when').click();
  const line = page.locator('.time-line');
  await line.getByRole('heading', { name: 'Time line' }).waitFor();
  await line.getByRole('listitem').filter({ hasText: 'Turn 1: first' }).waitFor();
  const wait = line.getByRole('link', { name: /wait Wait for input local 0, .* goes on/ });
  await wait.waitFor();
  expect(
    await line
      .getByRole('listitem')
      .filter({ hasText: /^model/ })
      .count(),
  ).toBe(2);
  expect(await opened.barriers()).toEqual([]);
  await wait.focus();
  await page.keyboard.press('Enter');
  await page.locator('[data-message="2"]:focus').filter({ hasText: 'read -p' }).waitFor();
  // The wait ends, and the line says so by itself.
  await setting.operator.post(`/v1/sessions/${id}/local/0/input`, { keyboard: 'Ada' });
  await setting.operator.post(`/v1/agents/${id}/messages`, { message: 'second' });
  await page.getByRole('log').getByText('second', { exact: true }).waitFor();
  await line.getByLabel('Show').selectOption('everything');
  await line.getByRole('link', { name: /command .*exit code 0/ }).waitFor();
  await line.getByRole('listitem').filter({ hasText: 'Turn 2: second' }).waitFor();
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('a turn that has failed says why and what can be done, on its page', async () => {
  const id = uniqueId('failed');
  await setting.operator.post('/v1/agents', {
    ...{ id, task: 'first', mode: 'conversation', model: 'scripted:not-there.yaml' },
  });
  await until(isIdle(id));
  const opened = await setting.open();
  await opened.goto(`agents/${id}`);
  const card = opened.page.getByRole('article', { name: 'The last turn has failed' });
  await card.getByText('the model gave no reply').waitFor();
  await card.getByText('not-there.yaml').first().waitFor();
  await card.getByText('Send a message to go on.').waitFor();
  expect(await card.innerText()).not.toContain('Next:');
  expect(await opened.barriers()).toEqual([]);
  await opened.close();
});

test('the list shows sub-agents below their parent, what each is doing, and what it has cost', async () => {
  const usage = { inputTokens: 10, outputTokens: 10, costUsd: 0.25 };
  const child = files.model([{ text: 'never', delayMs: 600_000 }]);
  const id = await start([
    { text: call('spawn_agent', { role: 'Finder', prompt: 'find it', model: child }), usage },
    { text: 'it is looked for' },
  ]);
  const other = await start([terminal('echo other'), { text: 'other' }]);
  await until(async () => (await isIdle(id)()) && (await isIdle(other)()));
  const opened = await setting.open();
  const { page } = opened;
  await opened.goto('agents');
  const rows = page.getByRole('list', { name: 'Agents' }).getByRole('listitem');
  const [parent, below] = [rows.filter({ hasText: 'first$0.25' }), rows.filter({ hasText: `${id}-finder` })];
  await parent.filter({ hasText: id }).waitFor();
  await below.getByText(/Step 1: .*\d+ s/).waitFor();
  const places = [parent, below].map((row) => row.getAttribute('aria-posinset').then(Number));
  const [first = 0, second] = await Promise.all(places);
  expect(second).toBe(first + 1);
  expect(await opened.barriers()).toEqual([]);
  await opened.goto(`agents/${id}`);
  await page.getByRole('link', { name: 'Finder' }).waitFor();
  await setting.operator.post(`/v1/agents/${id}/stop`);
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('the list goes on showing what an agent is doing after a request for it was lost', async () => {
  const go = join(files.directory, uniqueId('go'));
  const id = await start([
    terminal(`until [ -e ${go} ]; do sleep 0.1; done`),
    { text: 'never', delayMs: 600_000 },
  ]);
  const opened = await setting.open();
  const { page } = opened;
  await opened.goto('agents');
  const row = page.getByRole('list', { name: 'Agents' }).getByRole('listitem').filter({ hasText: id });
  await row.getByText('Step 1: ').waitFor();
  let isLost = false;
  await page.route(`**/v1/agents/${id}`, (route) => {
    if (isLost) return route.continue();
    isLost = true;
    return route.abort();
  });
  await until(() => isLost);
  writeFileSync(go, '');
  await row.getByText('Step 2: ').waitFor();
  await setting.operator.post(`/v1/agents/${id}/stop`);
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test.each([
  ['is not there', 'ours-at-all'],
  ['has no possible id', 'ours at all'],
  ['a token does not cover', 'of-others'],
])('an agent that %s is no lost connection, has no time line, and is asked for once', async (_, id) => {
  const opened = await setting.open();
  const { page } = opened;
  const { gateway } = setting;
  const grant = { name: 'some', role: 'operator', agents: ['ours*'], validMs: null } as const;
  await page.goto(`${gateway.url}/#token=${(await gateway.tokens.create(grant)).token}`);
  // Even for a moment.
  await page.evaluate(`new MutationObserver(() => {
    window.wasOffline ||= document.querySelector('.offline') !== null;
  }).observe(document.body, { childList: true, subtree: true })`);
  const path = encodeURIComponent(id);
  const refused = page.waitForResponse((response) => response.url().endsWith(`${path}/events`));
  let streams = 0;
  await page.route(`**/v1/agents/${path}/events`, (route) => void (streams++, route.continue()));
  // Later than the stream would be opened again.
  await page.route(
    `**/v1/agents/${path}`,
    (route) => void refused.then(() => delay(1_500)).then(() => route.continue()),
  );
  await opened.goto(`agents/${path}`);
  await page.getByRole('alert').waitFor();
  expect(await page.getByText('What happened, and when').count()).toBe(0);
  await opened.goto('hosts');
  await page.getByText('No other machine has connected').waitFor();
  expect(await page.evaluate('window.wasOffline ?? false')).toBe(false);
  expect(streams).toBe(1);
  await opened.close();
});

test('what was written while the connection was lost is marked in the reply that is being written', async () => {
  const id = await start([{ text: 'done' }]);
  await until(isIdle(id));
  const opened = await setting.open();
  const { page } = opened;
  const tokens = ['The password is not ', 'needed.'];
  // Each connection ends after a token, the last one does not.
  await page.route(`**/v1/agents/${id}/events`, (route) => {
    const text = tokens.shift();
    const data = JSON.stringify({ kind: 'text', agent: id, turn: 'turn', text });
    const body = `retry: 50\n\nevent: token\ndata: ${data}\n\n`;
    if (text !== undefined) void route.fulfill({ contentType: 'text/event-stream', body });
  });
  await opened.goto(`agents/${id}`);
  await page.getByText('The password is not \u2026needed.').waitFor();
  await opened.close();
});

test('while its messages are read the page does not say that there are none; a problem goes when they come', async () => {
  const id = await start([{ text: 'done' }]);
  await until(isIdle(id));
  const opened = await setting.open();
  const { page } = opened;
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route(/\/events/, (route) => void released.then(() => route.continue()));
  await opened.goto(`agents/${id}`);
  await page.getByText('Reading its messages').waitFor();
  await page.route(`**/v1/agents/${id}`, (route) =>
    route.fulfill({ status: 503, json: { code: 'worker_silent', detail: 'No answer.', next: 'Wait.' } }),
  );
  await opened.goto('hosts');
  await opened.goto(`agents/${id}`);
  await page.getByRole('alert').filter({ hasText: 'No answer.' }).waitFor();
  release();
  await page.getByRole('log').getByText('done', { exact: true }).waitFor();
  await page.getByRole('alert').waitFor({ state: 'detached' });
  await opened.close();
});

test('files of the page come compressed to those who take it, and a cache keeps them apart', async () => {
  const ask = async (path: string, headers: Record<string, string>): Promise<Response> =>
    fetch(setting.gateway.url + path, { headers });
  const first = await ask('/', { 'Accept-Encoding': 'identity' });
  const html = await first.text();
  expect(Object.fromEntries(first.headers)).toMatchObject({
    'cache-control': 'no-cache',
    vary: 'Accept-Encoding',
  });
  const asset = /src="(\/assets\/[^"]+\.js)"/.exec(html)?.[1] ?? '';
  const plain = await ask(asset, { 'Accept-Encoding': 'identity' });
  const code = await plain.text();
  expect(plain.headers.get('Content-Encoding')).toBeNull();
  for (const [accepted, encoding] of [
    ['gzip, deflate, br', 'br'],
    ['gzip, br;q=0', 'gzip'],
  ] as const) {
    const answer = await ask(asset, { 'Accept-Encoding': accepted });
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      ...{ 'content-encoding': encoding, vary: 'Accept-Encoding' },
      'cache-control': 'public, max-age=31536000, immutable',
    });
    expect((await answer.text()) === code).toBe(true);
    const known = { 'Accept-Encoding': accepted, 'If-None-Match': answer.headers.get('ETag') ?? '' };
    expect((await ask(asset, known)).status).toBe(304);
  }
  expect((await ask(`${asset}.br`, {})).status).toBe(404);
});

test('a part of the page that could not be read is read again until it is there', async () => {
  const id = await start([{ text: 'done' }]);
  await until(isIdle(id));
  const opened = await setting.open('viewer');
  const { page } = opened;
  let isAway = true;
  let refused = 0;
  await page.route(/\/timeline$/, (route) => {
    refused += isAway ? 1 : 0;
    return isAway ? route.abort() : route.continue();
  });
  await opened.goto(`agents/${id}`);
  await page.getByText('What happened, and when').click();
  const line = page.locator('.time-line');
  await line.getByText('The gateway does not answer.').waitFor();
  await until(() => refused > 2);
  isAway = false;
  await line.getByRole('listitem').filter({ hasText: 'Turn 1' }).waitFor();
  expect(await line.getByRole('alert').count()).toBe(0);
  await opened.close();
});

/** A turn is cancelled with its agent. */
function unlessCancelled(err: unknown): void {
  if (!(err instanceof WorkflowNotFoundError)) throw err;
}

test('a reply that was being written when its agent and turn were terminated is gone from the page', async () => {
  const id = await start([{ text: 'whole', delayMs: 600_000 }]);
  const opened = await setting.open('viewer');
  const { page } = opened;
  const hub = await LiveTokens.listen(setting.engine.dataDir);
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  try {
    await opened.goto(`agents/${id}`);
    const turn = turnWorkflowId(id, 1);
    const written = page.getByText('writing, not recorded yet');
    await until(async () => {
      void hub.during({ agent: id, turn }, ({ onText }) => {
        onText?.('half of a rep');
        return ended;
      });
      return (await written.count()) > 0;
    });
    const { workflow } = setting.engine.client.temporal;
    await workflow.getHandle(agentWorkflowId(id)).terminate();
    await workflow.getHandle(turn).terminate().catch(unlessCancelled);
    await written.waitFor({ state: 'detached', timeout: 20_000 });
    expect(opened.faults).toEqual([]);
  } finally {
    end();
    hub.close();
    await opened.close();
  }
});

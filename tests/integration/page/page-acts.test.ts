// What people do on the page of an agent, in real Chromium: each act with its question and its real effect; and what a
// viewer cannot do.
import type { Page } from 'playwright-core';
import { pageSetting, type ConsolePage } from '../../helpers/gateway/console';
import type { Json } from '../../helpers/gateway/gateway';
import { call, uniqueId, type Reply } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const setting = pageSetting();
const { files } = setting;

const terminal = (code: string): Reply => ({
  text: call('code_execution_tool', { runtime: 'terminal', code }),
});

async function start(replies: Reply[], more: object = {}): Promise<string> {
  const id = uniqueId('act');
  const settings = files.settings(replies);
  await setting.operator.post('/v1/agents', {
    id,
    task: 'first',
    mode: 'conversation',
    ...settings,
    ...more,
  });
  return id;
}

const stateOf = (id: string): Promise<{ status: string; turns: number; messages: number }> =>
  setting.operator.get(`/v1/agents/${id}`);
const isIdle = (id: string) => async (): Promise<boolean> => (await stateOf(id)).status === 'idle';

async function shown(id: string, role: 'operator' | 'viewer' = 'operator'): Promise<ConsolePage> {
  const opened = await setting.open(role);
  await opened.goto(`agents/${id}`);
  await opened.page.getByRole('heading', { level: 1, name: id }).waitFor();
  return opened;
}

/** Long enough to be interrupted: the tool waits for this command, which nothing ends but what is tested. */
const ENDLESS = { yield: { firstOutputMs: 600_000, betweenOutputMs: 600_000, maxMs: 600_000 } };

test('stop asks first; cancelled, nothing happens; confirmed, the agent ends and its page says so', async () => {
  const id = await start([{ text: 'hello' }]);
  await until(isIdle(id));
  const opened = await shown(id);
  const { page } = opened;
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: /close the sessions and end the agent/ });
  await dialog.waitFor();
  expect(await opened.barriers()).toEqual([]);
  // Enter gives the safe answer.
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await dialog.waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  expect((await stateOf(id)).status).toBe('idle');
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await dialog.getByRole('button', { name: 'Stop the agent' }).click();
  await page.getByRole('status').filter({ hasText: 'asked to stop' }).waitFor();
  await page.locator('.title .state', { hasText: 'ended' }).waitFor();
  expect((await stateOf(id)).status).toBe('ended');
  for (const name of ['Interrupt', 'Recover', 'Stop'])
    expect(await page.getByRole('button', { name, exact: true }).count()).toBe(0);
  expect(await page.getByRole('textbox', { name: 'Message' }).count()).toBe(0);
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('recover ends the command that hangs, and the conversation goes on in a fresh shell', async () => {
  const id = await start(
    [terminal('here=old; sleep 600'), terminal('echo "here=$here."'), { text: 'fresh' }],
    ENDLESS,
  );
  const session = (): Promise<{ state: { command: unknown } | null }> =>
    setting.operator
      .get<{ state: { command: unknown } | null }>(`/v1/sessions/${id}/local/0`)
      .catch(() => ({ state: null }));
  const opened = await shown(id);
  const { page } = opened;
  await page.getByRole('button', { name: /^local 0 running/ }).waitFor();
  await page.getByRole('button', { name: 'Recover' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'End the turn and reset' }).click();
  await page.getByRole('status').filter({ hasText: 'its sessions were reset' }).waitFor();
  await until(async () => !(await session()).state?.command);
  await page.getByRole('textbox', { name: 'Message' }).fill('and now?');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByRole('log').getByText('fresh', { exact: true }).waitFor();
  await page.getByRole('log').locator('summary', { hasText: 'echo "here=' }).click();
  await page
    .getByRole('region', { name: 'Result of code_execution_tool' })
    .last()
    .getByText('here=.')
    .waitFor();
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('interrupt ends the turn before its next step, and what was queued comes next', async () => {
  const id = await start([{ text: 'never', delayMs: 600_000 }, { text: 'second answer' }]);
  const opened = await shown(id);
  const { page } = opened;
  await page.getByRole('button', { name: 'Queue', exact: true }).waitFor();
  await page.getByRole('textbox', { name: 'Message' }).fill('second');
  await page.getByRole('button', { name: 'Queue', exact: true }).click();
  await page.getByRole('status').filter({ hasText: 'Queued' }).waitFor();
  await page.getByText('1 queued').waitFor();
  await page.getByRole('button', { name: 'Interrupt', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'End the turn' }).click();
  await page.getByRole('status').filter({ hasText: 'The turn has ended' }).waitFor();
  await page.getByRole('log').getByText('second', { exact: true }).waitFor();
  expect((await stateOf(id)).turns).toBe(2);
  expect(await page.getByRole('log').getByText('never').count()).toBe(0);
  expect(opened.faults).toEqual([]);
  await opened.close();
});

/** Loses the first request on its way there and the second on its way back; returns the keys of all. */
async function loseTwo(page: Page, url: string): Promise<(string | undefined)[]> {
  const keys: (string | undefined)[] = [];
  await page.route(url, async (route) => {
    keys.push(route.request().headers()['idempotency-key']);
    if (keys.length > 2) return route.continue();
    if (keys.length === 2) await route.fetch();
    await route.abort();
  });
  return keys;
}

test('an interrupt whose answer was lost is the same one in its turn, and another one in the next', async () => {
  const id = await start([
    { text: 'never', delayMs: 600_000 },
    { text: 'nor this', delayMs: 600_000 },
  ]);
  const opened = await shown(id);
  const { page } = opened;
  const keys = await loseTwo(page, '**/interrupt');
  const interrupt = async (): Promise<void> => {
    await page.getByRole('button', { name: 'Interrupt', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End the turn' }).click();
  };
  await page.getByRole('button', { name: 'Queue', exact: true }).waitFor();
  await interrupt();
  await page.getByRole('alert').waitFor();
  await interrupt();
  await until(isIdle(id));
  await page.getByRole('textbox', { name: 'Message' }).fill('second');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByRole('button', { name: 'Queue', exact: true }).waitFor();
  await interrupt();
  await page.getByRole('status').filter({ hasText: 'The turn has ended' }).waitFor();
  expect(await stateOf(id)).toMatchObject({ status: 'idle', turns: 2 });
  expect([keys.length, keys[1] === keys[0], keys[2] === keys[0]]).toEqual([3, true, false]);
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('a message is another one than the same text before whose answer was lost, once that is in the conversation', async () => {
  const id = await start(['one', 'two', 'three'].map((text) => ({ text })));
  const opened = await shown(id);
  const { page } = opened;
  const keys = await loseTwo(page, '**/messages');
  const log = page.getByRole('log');
  await log.getByText('one', { exact: true }).waitFor();
  await page.getByRole('textbox', { name: 'Message' }).fill('go on');
  const send = page.getByRole('button', { name: 'Send', exact: true });
  await send.click();
  await page.getByRole('alert').waitFor();
  // The part of the page that sent it is left meanwhile.
  await opened.goto('inbox');
  await page.getByRole('heading', { name: 'Inbox' }).waitFor();
  await opened.goto(`agents/${id}`);
  await send.click();
  await log.getByText('two', { exact: true }).waitFor();
  await until(isIdle(id));
  await send.click();
  await log.getByText('three', { exact: true }).waitFor();
  expect(await log.getByText('go on', { exact: true }).count()).toBe(2);
  expect([keys.length, keys[1] === keys[0], keys[2] === keys[0]]).toEqual([3, true, false]);
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('a message that is half written when the log-in ends is there after the next one', async () => {
  const id = await start([{ text: 'one' }]);
  const opened = await shown(id);
  const { page } = opened;
  const field = page.getByRole('textbox', { name: 'Message' });
  await field.fill('half of a mess');
  await page.context().clearCookies();
  await field.press('Enter');
  await page.getByText('You are not logged in').waitFor();
  const { token } = await setting.gateway.tokens.create({
    ...{ name: 'again', role: 'operator', agents: ['*'], validMs: null },
  });
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('heading', { level: 1, name: id }).waitFor();
  expect(await field.inputValue()).toBe('half of a mess');
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('what is typed while a message is on its way stays in its field', async () => {
  const id = await start([{ text: 'one' }, { text: 'two' }]);
  await until(isIdle(id));
  const opened = await shown(id);
  const { page } = opened;
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route('**/messages', (route) => void released.then(() => route.continue()));
  const field = page.getByRole('textbox', { name: 'Message' });
  await field.fill('second');
  await field.press('Enter');
  await field.pressSequentially('and third');
  release();
  await page
    .getByRole('status')
    .filter({ hasText: /Sent|Queued/ })
    .waitFor();
  expect(await field.inputValue()).toBe('and third');
  await page.getByRole('log').getByText('two', { exact: true }).waitFor();
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('the page of an agent that has ended offers nothing that would be done to another one which has its id by now', async () => {
  const id = await start([{ text: 'one' }]);
  await until(isIdle(id));
  const opened = await shown(id);
  const { page } = opened;
  const log = page.getByRole('log');
  await log.getByText('one', { exact: true }).waitFor();
  await setting.operator.post(`/v1/agents/${id}/stop`);
  await page.locator('.title .state', { hasText: 'ended' }).waitFor();
  const forks = log.getByRole('button', { name: 'fork from here' });
  expect(await forks.count()).toBe(2);
  await setting.operator.post('/v1/agents', {
    ...{ id, task: 'of the other', mode: 'conversation' },
    ...files.settings([{ text: 'two' }]),
  });
  await page.getByRole('status').filter({ hasText: 'another one has its id' }).waitFor();
  expect(await forks.count()).toBe(0);
  expect(await page.getByRole('button', { name: /rewind/i }).count()).toBe(0);
  await page.reload();
  await log.getByText('two', { exact: true }).waitFor();
  expect(await forks.count()).toBe(2);
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('a fork begins with the messages up to its place, and leaves the agent as it was', async () => {
  const id = await start([{ text: 'one' }, { text: 'two' }, { text: 'another way' }]);
  await until(isIdle(id));
  await setting.operator.post(`/v1/agents/${id}/messages`, { message: 'second' });
  const opened = await shown(id);
  const { page } = opened;
  const log = page.getByRole('log');
  await log.getByText('two', { exact: true }).waitFor();
  // Before each message of a person, and after the last answer.
  expect(await log.getByRole('button', { name: 'fork from here' }).count()).toBe(3);
  await log.locator('[data-message="2"]').getByRole('button', { name: 'fork from here' }).click();
  // It is named after its origin.
  await page.getByRole('heading', { level: 1, name: new RegExp(`^${id}-[0-9a-f]{6}`) }).waitFor();
  await log.getByText('one', { exact: true }).waitFor();
  expect(await log.getByText('second', { exact: true }).count()).toBe(0);
  await page.getByRole('textbox', { name: 'Message' }).fill('other');
  await page.getByRole('textbox', { name: 'Message' }).press('Enter');
  await log.getByText('two', { exact: true }).waitFor();
  expect((await stateOf(id)).messages).toBe(4);
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('a viewer sees all of it and can change nothing, on the page or by the API', async () => {
  const id = await start([terminal("read -p 'Name? ' x"), { text: 'it waits' }]);
  await until(isIdle(id));
  const before = await stateOf(id);
  const opened = await shown(id, 'viewer');
  const { page } = opened;
  await page.getByRole('log').getByText('it waits', { exact: true }).waitFor();
  await page.getByRole('article', { name: /Name/ }).waitFor();
  for (const name of [/interrupt/i, /recover/i, /stop/i, /fork/i, /send/i, /queue/i, /ctrl/i])
    expect(await page.getByRole('button', { name }).count()).toBe(0);
  expect(await page.getByRole('main').getByRole('textbox').count()).toBe(0);
  await opened.goto('agents');
  await page.getByRole('listitem').filter({ hasText: id }).waitFor();
  expect(await page.getByRole('link', { name: 'Start an agent' }).count()).toBe(0);
  // As a page would ask that shows the buttons all the same: with the viewer's cookie.
  const asked: [path: string, body: Json][] = [
    ['interrupt', {}],
    ['recover', {}],
    ['stop', {}],
    ['fork', { at: 0 }],
    ['messages', { message: 'x' }],
  ];
  const statuses = await page.evaluate<number[]>(
    `Promise.all(${JSON.stringify(asked)}.map(([path, body]) =>
      fetch('/v1/agents/${id}/' + path, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      }).then(({ status }) => status)))`,
  );
  expect(statuses).toEqual([403, 403, 403, 403, 403]);
  expect(await stateOf(id)).toMatchObject({ ...before });
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('a problem says what to do next, once', async () => {
  const id = await start([{ text: 'one' }]);
  await until(isIdle(id));
  const answer = await setting.operator.ask('POST', `/v1/agents/${id}/fork`, { at: 1 });
  const { detail, next } = answer.body as { detail: string; next: string };
  expect(next).toContain('Name one of these');
  expect(detail).not.toContain(next);
  expect(detail).not.toMatch(/Next:/);
  const opened = await setting.open();
  await opened.goto('agents/nobody-of-this-name');
  const alert = opened.page.getByRole('alert').first();
  await alert.waitFor();
  const text = await alert.innerText();
  const step = await alert.locator('.next').innerText();
  expect(step).not.toBe('');
  expect(text.split(step)).toHaveLength(2);
  await opened.close();
});

// What a person answers to a program or a command reaches what they saw, once, or nothing.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Route } from 'playwright-core';
import type { InboxItem } from '../../../contracts/gateway/api';
import { pageSetting, type ConsolePage } from '../../helpers/gateway/console';
import { QUICK_YIELD, uniqueId } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const setting = pageSetting({ config: '[policy.agents]\nheld = "ask"\n' });

const session = (agent: string): string => `/v1/sessions/${agent}/local/0`;
const run = (agent: string, code: string): Promise<unknown> =>
  setting.operator.post(`${session(agent)}/exec`, { code, yield: { ...QUICK_YIELD, promptMs: 100 } });
const type = (agent: string, keyboard: string): Promise<unknown> =>
  setting.operator.post(`${session(agent)}/input`, { keyboard });
const logOf = async (agent: string): Promise<string> =>
  String((await setting.operator.ask('GET', `${session(agent)}/log?from=0`)).body);
const prints = (agent: string, text: string): Promise<void> =>
  until(async () => (await logOf(agent)).includes(text));

const waitingOf = async (agent: string): Promise<InboxItem['session']> =>
  (await setting.operator.get<{ items: InboxItem[] }>('/v1/inbox')).items.find((item) => item.agent === agent)
    ?.session;

const cardOf = ({ page }: ConsolePage, agent: string): Locator =>
  page.getByRole('article').filter({ hasText: agent });

/** By its title, which quotes the code, a card shows every prompt of a program from the start. */
const onScreen = (card: Locator, text: string): Promise<void> =>
  card.getByRole('region', { name: 'Screen of' }).filter({ hasText: text }).waitFor();

/** What the page sends next goes the way of `take`; all else as usual. */
async function onNext({ page }: ConsolePage, url: RegExp, take: (route: Route) => Promise<void>) {
  let isFirst = true;
  await page.route(url, (route) => {
    if (!isFirst) return route.continue();
    isFirst = false;
    return take(route);
  });
}

test('an answer to a prompt that somebody else answered first is not typed into the next one', async () => {
  const agent = uniqueId('two');
  await run(agent, `read -p 'Install? ' x; read -p 'Delete? ' y; echo "$x and $y."`);
  const opened = await setting.open();
  const card = cardOf(opened, agent);
  await onScreen(card, 'Install?');
  await card.getByRole('textbox', { name: 'Answer' }).fill('boom');
  await onNext(opened, /\/input$/, async (route) => {
    await type(agent, 'theirs');
    await prints(agent, 'Delete?');
    await route.continue();
  });
  const answered = opened.page.waitForResponse(/\/input$/);
  await card.getByRole('button', { name: 'Send' }).click();
  expect((await answered).status()).toBe(409);
  await type(agent, 'no');
  await prints(agent, 'theirs and no.');
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('an answer whose confirmation was lost is typed once, however often it is sent again', async () => {
  const agent = uniqueId('lost');
  await run(agent, "read -p 'Name? ' x; sleep 600");
  const opened = await setting.open();
  const card = cardOf(opened, agent);
  await card.getByRole('textbox', { name: 'Answer' }).fill('Ada');
  await onNext(opened, /\/input$/, async (route) => {
    route.fetch().catch(() => undefined);
    await prints(agent, 'Ada');
    await route.abort();
  });
  await card.getByRole('button', { name: 'Send' }).click();
  await card.getByRole('alert').waitFor();
  const answered = opened.page.waitForResponse(/\/input$/);
  await card.getByRole('button', { name: 'Send' }).click();
  expect((await answered).status()).toBe(200);
  expect((await logOf(agent)).match(/Ada/g)).toHaveLength(1);
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('a program that prints while it waits is told of once, and takes no half-typed text away', async () => {
  const agent = uniqueId('ticks');
  const go = join(setting.files.directory, agent);
  const opened = await setting.open();
  const { page } = opened;
  await page.getByText('waiting, oldest first').or(page.getByText('Nothing waits')).waitFor();
  await page.evaluate(
    `window.told = [];
    window.Notification = class {
      static permission = 'granted';
      constructor(agent) { window.told.push(agent); }
    }`,
  );
  await run(
    agent,
    `(until [ -e ${go} ]; do sleep 0.05; done; echo It prints.) & read -p 'Name? ' x; echo "hi $x."`,
  );
  const card = cardOf(opened, agent);
  const field = card.getByRole('textbox', { name: 'Answer' });
  await field.fill('Ada Lo');
  const since = async (): Promise<string | undefined> => (await waitingOf(agent))?.prompt?.since;
  const before = await since();
  writeFileSync(go, '');
  await onScreen(card, 'It prints.');
  await until(async () => ![before, undefined].includes(await since()), 60_000);
  expect(await field.inputValue()).toBe('Ada Lo');
  await field.pressSequentially('velace');
  await card.getByRole('button', { name: 'Send' }).click();
  await prints(agent, 'hi Ada Lovelace.');
  expect(await page.evaluate<string[]>('window.told')).toEqual([agent]);
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('an answer that was begun at a prompt is not typed into the next one, though its card shows that by now', async () => {
  const agent = uniqueId('begun');
  await run(agent, `read -p 'Install? ' x; read -p 'Delete? ' y; echo "$x and $y."`);
  const opened = await setting.open();
  const card = cardOf(opened, agent);
  await onScreen(card, 'Install?');
  await card.getByRole('textbox', { name: 'Answer' }).fill('yes');
  await type(agent, 'theirs');
  await onScreen(card, 'Delete?');
  const send = card.getByRole('button', { name: 'Send' });
  await send.click();
  await card.getByRole('alert').waitFor();
  expect(await logOf(agent)).not.toContain('yes');
  // By now the person has seen what is asked.
  await send.click();
  await prints(agent, 'theirs and yes.');
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('what was typed into the field of a password is gone when the program asks something that it shows', async () => {
  const agent = uniqueId('pw');
  await run(agent, `read -sp 'Password: ' x; echo; read -p 'User? ' y`);
  const opened = await setting.open();
  const card = cardOf(opened, agent);
  await card.locator('input[type=password]').fill('half of a secr');
  await type(agent, 'secret');
  await onScreen(card, 'User?');
  expect(await card.locator('input[type=text]').inputValue()).toBe('');
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('a long command that could not be read at first can be approved as soon as it can', async () => {
  const agent = 'held';
  const opened = await setting.open();
  await onNext(opened, /\/v1\/approvals\/[^/]+$/, (route) => route.abort());
  const code = `${'# a comment\n'.repeat(5_000)}echo approved`;
  const running = setting.operator.post(`${session(agent)}/exec`, {
    code,
    yield: { maxMs: 600_000, firstOutputMs: 600_000 },
  });
  const approve = cardOf(opened, agent).getByRole('button', { name: 'Approve' });
  await until(() => approve.isEnabled());
  expect(await cardOf(opened, agent).getByRole('alert').count()).toBe(0);
  await approve.click();
  expect(await running).toMatchObject({ output: expect.stringContaining('approved') as string });
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('where the browser refuses notifications of pages, the inbox shows what is new all the same', async () => {
  const agent = uniqueId('android');
  const opened = await setting.open();
  await opened.page.getByText('waiting, oldest first').or(opened.page.getByText('Nothing waits')).waitFor();
  // As Chrome for Android does.
  await opened.page.evaluate(
    `window.Notification = class {
      static permission = 'granted';
      constructor() { throw new TypeError('Illegal constructor'); }
    }`,
  );
  await run(agent, "read -p 'New? ' x");
  await onScreen(cardOf(opened, agent), 'New?');
  expect(opened.faults).toEqual([]);
  await opened.close();
});

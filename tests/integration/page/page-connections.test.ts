// A browser's connections to its gateway: six for all of its tabs, and cut without a word.
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import type { Page, Route } from 'playwright-core';
import { ConsolePage, pageSetting } from '../../helpers/gateway/console';
import { gatewayOn } from '../../helpers/gateway/gateway';
import { QUICK_YIELD, uniqueId } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const setting = pageSetting();
const { engine, files } = setting;

/** As when another tab is in front of it. */
const setHidden = ({ page }: { page: Page }, isHidden: boolean): Promise<unknown> =>
  page.evaluate(`
    Object.defineProperty(document, 'hidden', { configurable: true, value: ${isHidden} });
    document.dispatchEvent(new Event('visibilitychange'));
  `);

async function start(answer: string): Promise<string> {
  const id = uniqueId('tab');
  await setting.operator.post('/v1/agents', {
    ...{ id, task: 'first', mode: 'conversation' },
    ...files.settings([{ text: answer }, { text: 'later answer' }]),
  });
  return id;
}

test('however many agents are open in tabs, a person can answer and act in each of them', async () => {
  const opened = await setting.open();
  const context = opened.page.context();
  const tabs: Page[] = [];
  try {
    for (let n = 0; n < 8; n++) {
      const id = await start(`answer ${n}`);
      const page = await context.newPage();
      tabs.push(page);
      await page.goto(`${setting.gateway.url}/#/agents/${id}`);
      await page.getByRole('log').getByText(`answer ${n}`, { exact: true }).waitFor();
      // The next one comes to the front.
      if (n > 1) await setHidden({ page }, true);
    }
    const prompt = uniqueId('ask');
    await setting.operator.post(`/v1/sessions/${prompt}/local/0/exec`, {
      code: "read -p 'Go on? ' x",
      yield: { ...QUICK_YIELD, promptMs: 100 },
    });
    const card = opened.page.getByRole('article').filter({ hasText: prompt });
    await card.getByRole('textbox', { name: 'Answer' }).fill('yes');
    await card.getByRole('button', { name: 'Send' }).click();
    await card.waitFor({ state: 'detached' });
    // One that is shown again catches up, and each message is there once.
    const [last] = tabs.slice(-1) as [Page];
    await setHidden({ page: last }, false);
    await last.getByRole('textbox', { name: 'Message' }).fill('second');
    await last.getByRole('textbox', { name: 'Message' }).press('Enter');
    await last.getByRole('log').getByText('later answer', { exact: true }).waitFor();
    expect(await last.getByRole('log').getByText('answer 7', { exact: true }).count()).toBe(1);
  } finally {
    await opened.end();
  }
});

test('all tabs show what waits, also when the one that was told first is closed', async () => {
  const opened = await setting.open();
  const context = opened.page.context();
  // Its stream is there, and not counted.
  await opened.page.getByText(/Nothing waits for you|waiting, oldest first/).waitFor();
  let asked = 0;
  context.on('request', (request) => {
    if (request.url().endsWith('/v1/events')) asked += 1;
  });
  try {
    const other = await context.newPage();
    await other.goto(setting.gateway.url);
    const [first, second] = [uniqueId('one'), uniqueId('two')];
    const ask = (agent: string): Promise<unknown> =>
      setting.operator.post(`/v1/sessions/${agent}/local/0/exec`, {
        code: "read -p 'Go on? ' x",
        yield: { ...QUICK_YIELD, promptMs: 100 },
      });
    const shows = async (page: Page, agent: string): Promise<void> =>
      page.getByRole('article').filter({ hasText: agent }).waitFor();
    await ask(first);
    await Promise.all([shows(opened.page, first), shows(other, first)]);
    expect(asked).toBe(0);
    await opened.page.close();
    await ask(second);
    await shows(other, second);
    await until(() => asked === 1);
  } finally {
    await opened.end();
  }
});

/** A way to a gateway that loses what is on it, without a word to either side. */
class Way {
  private readonly pairs: [Socket, Socket][] = [];
  private readonly server = createServer((one) => {
    const other = connect(this.to, '127.0.0.1');
    this.pairs.push([one, other]);
    one.pipe(other).on('error', () => one.destroy());
    other.pipe(one).on('error', () => other.destroy());
  });
  /** The gateway's port. */
  to = 0;

  async open(): Promise<string> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Those that are open; new ones are whole. */
  silence(): void {
    for (const [one, other] of this.pairs) {
      one.unpipe(other).resume();
      other.unpipe(one).resume();
    }
  }

  close(): void {
    this.server.close();
    for (const pair of this.pairs) for (const socket of pair) socket.destroy();
  }
}

test('a connection that is cut without a word is found out: the inbox goes on', async () => {
  const way = new Way();
  const host = await way.open();
  const gateway = await gatewayOn(engine, { names: [host] });
  way.to = Number(new URL(gateway.url).port);
  const { tokens } = gateway;
  const opened = await ConsolePage.open(setting.browser, { url: `http://${host}`, tokens } as typeof gateway);
  try {
    await opened.page.clock.install();
    // Its streams begin anew with this clock.
    await opened.page.reload();
    await opened.page.getByText(/Nothing waits for you|waiting, oldest first/).waitFor();
    way.silence();
    const agent = uniqueId('cut');
    await setting.operator.post(`/v1/sessions/${agent}/local/0/exec`, {
      code: "read -p 'Still there? ' x",
      yield: { ...QUICK_YIELD, promptMs: 100 },
    });
    const card = opened.page.getByRole('article').filter({ hasText: agent });
    // Connections that the browser has kept for later are cut, too, and are found out one by one.
    await until(async () => {
      await opened.page.clock.fastForward(41_000);
      return (await card.count()) > 0;
    });
    await opened.page.getByText('Not connected to the gateway').waitFor({ state: 'detached' });
    expect(opened.faults).toEqual([]);
  } finally {
    await opened.end();
    way.close();
    await gateway.close();
  }
});

/** What the page asks for at this path is not answered before the test lets it. */
async function holdBack(page: Page, path: string): Promise<Route[]> {
  const held: Route[] = [];
  await page.route(`**${path}`, (route) => void held.push(route));
  return held;
}

test('an answer that takes longer than the pause between two readings is shown', async () => {
  const opened = await setting.open();
  const { page } = opened;
  try {
    await page.clock.install();
    const held = await holdBack(page, '/v1/hosts');
    await opened.goto('hosts');
    await until(() => held.length === 1);
    // The page reads them every five seconds.
    await page.clock.runFor(11_000);
    expect(held.length).toBe(1);
    await held[0]?.continue();
    await page.getByText('No other machine has connected').waitFor();
    await page.clock.runFor(6_000);
    await until(() => held.length > 1);
    expect(opened.faults).toEqual([]);
  } finally {
    await opened.end();
  }
});

test('what is to be read again while it is being read is shown as it was, and then read once more', async () => {
  const id = await start('answer');
  const opened = await setting.open();
  const { page } = opened;
  try {
    await page.clock.install();
    const held = await holdBack(page, `/v1/agents/${id}/timeline`);
    await opened.goto(`agents/${id}`);
    await page.getByRole('log').getByText('answer', { exact: true }).waitFor();
    await page.locator('summary', { hasText: 'What happened, and when' }).click();
    await until(() => held.length === 1);
    // By then the page wants it again: changes come in bursts.
    await page.clock.runFor(1_500);
    expect(held.length).toBe(1);
    await held[0]?.continue();
    await page.locator('.time-line li.turn').first().waitFor();
    await until(() => held.length === 2);
    expect(opened.faults).toEqual([]);
  } finally {
    await opened.end();
  }
});

test('once a stream is there, the answer to why there was none does not say that there is none', async () => {
  const id = await start('answer');
  const opened = await setting.open();
  const { page } = opened;
  try {
    let isRefused = false;
    await page.route(`**/v1/agents/${id}/events`, (route) => {
      if (isRefused) return route.continue();
      isRefused = true;
      return route.fulfill({ status: 503, body: '' });
    });
    const held = await holdBack(page, `/v1/agents/${id}`);
    await opened.goto(`agents/${id}`);
    await page.getByRole('log').getByText('answer', { exact: true }).waitFor();
    // What the page asks at first, and why there was no stream.
    await until(() => held.length === 2);
    const answered = held.map(async (route) => (await route.request().response())?.finished());
    await Promise.all(held.map((route) => route.continue()));
    await Promise.all(answered);
    await page.evaluate('new Promise((done) => setTimeout(done, 500))');
    expect(await page.locator('.offline').count()).toBe(0);
    expect(opened.faults).toEqual([]);
  } finally {
    await opened.end();
  }
});

test('a tab that has lost the stream which all share shows what the tab says that follows it now', async () => {
  const opened = await setting.open();
  const context = opened.page.context();
  const warning = (page: Page) => page.getByText('Not connected to the gateway');
  try {
    const [first, other, third] = [opened.page, await context.newPage(), await context.newPage()];
    await first.route('**/v1/events', (route) => route.abort());
    await first.reload();
    await warning(first).waitFor();
    for (const page of [other, third]) {
      await page.clock.install();
      await page.goto(setting.gateway.url);
      await page.getByRole('heading', { name: 'Inbox' }).waitFor();
      // It is shown when it comes.
      await warning(page).waitFor();
    }
    // The first one is silent, as one that is frozen, until its lock is taken.
    await other.clock.runFor(41_000);
    const isGone = (page: Page): Promise<void> => warning(page).waitFor({ state: 'detached' });
    await Promise.all([first, other, third].map(isGone));
  } finally {
    await opened.end();
  }
});

test('an agent that is no longer kept when its tab is looked at again is said to be gone, and is not asked for again', async () => {
  const id = await start('answer');
  const opened = await setting.open();
  const { page } = opened;
  await opened.goto(`agents/${id}`);
  await page.getByRole('log').getByText('answer', { exact: true }).waitFor();
  await setHidden({ page }, true);
  let asked = 0;
  await page.route(`**/v1/agents/${id}*/**`, (route) => {
    asked += 1;
    return route.fulfill({ status: 404, json: { code: 'not_found', detail: 'It is gone.', next: 'Go on.' } });
  });
  await page.route(`**/v1/agents/${id}`, (route) =>
    route.fulfill({ status: 404, json: { code: 'not_found', detail: 'It is gone.', next: 'Go on.' } }),
  );
  await setHidden({ page }, false);
  await page.getByRole('alert').filter({ hasText: 'It is gone.' }).waitFor();
  expect(await page.locator('.offline').count()).toBe(0);
  expect(asked).toBe(1);
  await opened.end();
});

test('each failure is told once, also the second of an agent with the same reason, and one whose reason is learnt later', async () => {
  const opened = await setting.open();
  const { page } = opened;
  const failure = (at: number, text: string): object => ({
    ...{ kind: 'failed', agent: 'ci', since: `2026-01-01T0${at}:00:00.000Z`, text },
  });
  const inboxes = [
    [],
    [failure(1, 'unknown')],
    [failure(1, 'has failed')],
    [failure(1, 'has failed'), failure(2, 'has failed'), failure(3, 'has failed')],
  ];
  await page.addInitScript(`
    window.told = [];
    window.Notification = class { static permission = 'granted'; constructor(title, { tag }) { told.push(tag); } };
  `);
  const events = inboxes.map((items) => `event: inbox\ndata: ${JSON.stringify({ items, unread: [] })}\n\n`);
  await page.route('**/v1/events', (route) =>
    route.fulfill({ contentType: 'text/event-stream', body: `retry: 60000\n\n${events.join('')}` }),
  );
  await page.reload();
  await page.getByText('waiting, oldest first').waitFor();
  await until(async () => (await page.getByRole('article').count()) === 3);
  const told = await page.evaluate<string[]>('told');
  expect([told.length, new Set(told).size]).toEqual([3, 3]);
  await opened.end();
});

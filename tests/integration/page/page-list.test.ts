// A long list of agents on the page, in real Chromium. No worker: a list needs none.
import { pageSetting } from '../../helpers/gateway/console';
import { ApiClient } from '../../helpers/gateway/gateway';
import { count } from '../../helpers/run/long-run';
import { until } from '../../helpers/until';

const AGENTS = count(250, 1_000);
const AT_ONCE = 25;
const setting = pageSetting({ worker: false });
const { engine } = setting;
const idOf = (index: number): string => `listed-${String(index).padStart(4, '0')}`;
beforeAll(async () => {
  for (let first = 0; first < AGENTS; first += AT_ONCE)
    await Promise.all(
      Array.from({ length: AT_ONCE }, (_, index) =>
        engine.client.agent(idOf(first + index)).start({ mode: 'conversation', model: 'scripted:none.yaml' }),
      ),
    );
  const viewer = await ApiClient.of(setting.gateway, 'viewer');
  await until(
    async () => (await viewer.get<{ items: unknown[] }>('/v1/agents?limit=1000')).items.length === AGENTS,
    120_000,
  );
});

test(`${AGENTS} agents scroll to the last, with few of them in the page at any time`, async () => {
  const opened = await setting.open('viewer');
  const { page } = opened;
  await opened.goto('agents');
  const rows = page.getByRole('list', { name: 'Agents' }).getByRole('listitem');
  await rows.first().waitFor();
  await page.getByText(String(AGENTS), { exact: true }).waitFor();
  const seen = new Set<string>();
  const look = async (): Promise<void> => {
    const ids = await rows.locator('.id').allInnerTexts();
    expect(ids.length).toBeLessThan(100);
    for (const id of ids) seen.add(id);
  };
  await look();
  while (seen.size < AGENTS) {
    const before = seen.size;
    await page.mouse.wheel(0, 800);
    await until(async () => {
      await look();
      return seen.size > before;
    });
  }
  expect([...seen].sort()).toEqual(Array.from({ length: AGENTS }, (_, index) => idOf(index)));
  // Its place in the whole list is announced to those who do not see it.
  expect(await rows.last().getAttribute('aria-setsize')).toBe(String(AGENTS));
  expect(await rows.last().getAttribute('aria-posinset')).toBe(String(AGENTS));
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('more pages of the list stay when an agent is started', async () => {
  const opened = await setting.open('viewer');
  const { page } = opened;
  await page.route(/\/v1\/agents\?/, (route) =>
    route.continue({ url: route.request().url().replace('limit=1000', 'limit=100') }),
  );
  await opened.goto('agents');
  await page.getByText('100 and more').waitFor();
  await page.getByRole('button', { name: 'Show more' }).click();
  await page.getByText('200 and more').waitFor();
  const read = page.waitForResponse((response) => response.url().includes('/v1/agents?'));
  await engine.client.agent('another').start({ mode: 'conversation', model: 'scripted:none.yaml' });
  await (await read).finished();
  await page.evaluate('new Promise((done) => setTimeout(done, 500))');
  expect(await page.getByText('200 and more').count()).toBe(1);
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('what is sought is sent to the server, which finds it, and a filter too', async () => {
  const opened = await setting.open('viewer');
  const { page } = opened;
  const asked: URLSearchParams[] = [];
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (pathname === '/v1/agents') asked.push(searchParams);
  });
  await opened.goto('agents');
  const rows = page.getByRole('list', { name: 'Agents' }).getByRole('listitem');
  await rows.first().waitFor();
  const answered = page.waitForResponse((response) => response.url().includes(`text=${idOf(7)}`));
  await page.getByRole('searchbox').fill(idOf(7));
  const { items } = (await (await answered).json()) as { items: { id: string }[] };
  expect(items.map(({ id }) => id)).toEqual([idOf(7)]);
  await rows.filter({ hasText: idOf(7) }).waitFor();
  await until(async () => (await rows.count()) === 1);
  await page.getByLabel('Show').selectOption('Ended');
  await page.getByText('None matches the filter and the search.').waitFor();
  const last = asked.at(-1);
  expect([last?.get('text'), last?.get('state')]).toEqual([idOf(7), 'ended']);
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('an agent that is not among the newest on the first page is found, and a token for some sees those, however many others are newer', async () => {
  const { token } = await setting.gateway.tokens.create({
    ...{ name: 'one', role: 'viewer', agents: [idOf(0)], validMs: null },
  });
  const opened = await setting.open('viewer');
  const { page } = opened;
  await page.route(/\/v1\/agents\?/, (route) =>
    route.continue({ url: route.request().url().replace('limit=1000', 'limit=100') }),
  );
  await opened.goto('agents');
  const rows = page.getByRole('list', { name: 'Agents' }).getByRole('listitem');
  await page.getByText('100 and more').waitFor();
  await page.getByRole('searchbox').fill(idOf(0));
  await rows.filter({ hasText: idOf(0) }).waitFor();
  await until(async () => (await rows.count()) === 1);
  await page.goto(`${setting.gateway.url}/#token=${token}`);
  await page.reload();
  await opened.goto('agents');
  await rows.filter({ hasText: idOf(0) }).waitFor();
  expect(await rows.count()).toBe(1);
  expect(opened.faults).toEqual([]);
  await opened.close();
});

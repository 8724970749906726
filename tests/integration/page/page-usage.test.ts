// Usage drawn by day in real Chromium, and the sound of the inbox.
import { pageSetting } from '../../helpers/gateway/console';
import { QUICK_YIELD, uniqueId } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const setting = pageSetting();
const { files } = setting;

/** How many pixels of a plot have the colour of its bars. */
const BARS = `(() => {
  const [, ...rgb] = /(\\d+), (\\d+), (\\d+)/.exec(getComputedStyle(document.querySelector('.plot')).outlineColor) ?? [];
  return [...document.querySelectorAll('.plot canvas')].map((canvas) => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let count = 0;
    for (let at = 0; at < data.length; at += 4) if (rgb.every((value, n) => data[at + n] === Number(value))) count++;
    return count;
  });
})()`;

test('tokens and dollars by day are drawn in the colours of light and dark, with the same figures in a table', async () => {
  const usage = { inputTokens: 12_345, outputTokens: 55, costUsd: 0.5 };
  const { agent } = await setting.operator.post<{ agent: string }>('/v1/agents', {
    ...{ task: 'x', mode: 'conversation' },
    ...files.settings([{ text: 'done', usage }]),
  });
  await until(
    async () => (await setting.operator.get<{ status: string }>(`/v1/agents/${agent}`)).status === 'idle',
  );
  const opened = await setting.open();
  const { page } = opened;
  await opened.goto('usage');
  const table = page.getByRole('region', { name: 'By day' });
  await table.getByText('12,345').waitFor();
  await table.getByText('$0.5').waitFor();
  const isDrawn = async (): Promise<boolean> => {
    const bars = await page.evaluate<number[]>(BARS);
    return bars.length === 2 && bars.every((count) => count > 500);
  };
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await until(isDrawn);
    expect(await opened.barriers()).toEqual([]);
  }
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('agents that do not answer are named, since the sums lack what they have used', async () => {
  const opened = await setting.open();
  const { page } = opened;
  const none = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, costUsd: null };
  const lists = { byAgent: [], byTree: [], byModel: [], byDay: [] };
  const json = { total: none, ...lists, unanswered: ['silent-1', 'silent-2'] };
  await page.route('**/v1/usage', (route) => route.fulfill({ json }));
  await opened.goto('usage');
  await page.getByText('No answer now from silent-1, silent-2.').waitFor();
  expect(await page.getByText('Nothing used yet').count()).toBe(0);
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('where its code for drawing is not there, as after an upgrade, the page says what to do and shows its figures', async () => {
  const opened = await setting.open();
  await opened.page.route(/assets\/draw-days.*\.js$/, (route) => route.fulfill({ status: 404, body: '' }));
  const total = { inputTokens: 12_345, outputTokens: 0, cachedTokens: 0, costUsd: null };
  const json = { total, byAgent: [], byTree: [], byModel: [], byDay: [{ key: '2026-01-01', ...total }] };
  await opened.page.route('**/v1/usage', (route) => route.fulfill({ json: { ...json, unanswered: [] } }));
  await opened.goto('usage');
  const plot = opened.page.getByRole('figure').filter({ hasText: 'Tokens by day' });
  await plot.getByText('Reload the page.').waitFor();
  await opened.page.getByRole('region', { name: 'By day' }).getByText('12,345').waitFor();
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('the sound is off until it is switched on, is remembered, and is played once for what begins to wait', async () => {
  const opened = await setting.open();
  const { page } = opened;
  const played = (): Promise<number> => page.evaluate<number>('window.played ?? 0');
  await page.addInitScript(`
    const start = OscillatorNode.prototype.start;
    OscillatorNode.prototype.start = function (...when) {
      window.played = (window.played ?? 0) + 1;
      return start.apply(this, when);
    };`);
  const waits = async (): Promise<string> => {
    const agent = uniqueId('s');
    await setting.operator.post(`/v1/sessions/${agent}/local/0/exec`, {
      code: "read -p 'Go on? ' x",
      yield: { ...QUICK_YIELD, promptMs: 100 },
    });
    return agent;
  };
  await page.reload();
  const shown = (agent: string): Promise<void> =>
    page.getByRole('article').filter({ hasText: agent }).waitFor();
  await page.getByText('Nothing waits').waitFor();
  await shown(await waits());
  expect(await played()).toBe(0);
  await page.getByRole('button', { name: 'Sound off' }).click();
  // The switch is heard itself.
  expect(await played()).toBe(1);
  await page.reload();
  await page.getByRole('button', { name: 'Sound on', pressed: true }).waitFor();
  await page.getByRole('article').first().waitFor();
  // What has waited before is not new.
  expect(await played()).toBe(0);
  await shown(await waits());
  await until(async () => (await played()) === 1);
  expect(opened.faults).toEqual([]);
  await opened.end();
});

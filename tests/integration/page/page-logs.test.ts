// A terminal's long log in real Chromium: reached anywhere by offset, never held, downloaded whole.
import { readFileSync } from 'node:fs';
import type { Locator, Route } from 'playwright-core';
import { MAX_WINDOWS, WINDOW_BYTES } from '../../../console/terminal/log-windows';
import { logEnd, readWhole } from '../../../exec/output/log-reader';
import { sessionPaths } from '../../../exec/session-paths';
import { pageSetting, type ConsolePage } from '../../helpers/gateway/console';
import { uniqueId } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const setting = pageSetting();
const { engine } = setting;
let log: Buffer;
const agent = uniqueId('l');
const LINES = 400_000;
const PATIENT = { firstOutputMs: 600_000, betweenOutputMs: 600_000, maxMs: 600_000 };
const lineOf = (n: number): string => `line ${String(n).padStart(7, '0')}`;

beforeAll(async () => {
  const code = `seq -f 'line %07.0f größer \x1b[1m${'x'.repeat(50)}\x1b[0m' 1 ${LINES}`;
  await setting.operator.post(`/v1/sessions/${agent}/local/0/exec`, { code, yield: PATIENT });
  const path = sessionPaths(engine.dataDir, { agent, host: 'local', session: 0 }).log;
  log = readWhole(path, 0, logEnd(path));
}, 120_000);

interface Opened {
  opened: ConsolePage;
  tile: Locator;
  box: Locator;
}

async function openHistory(): Promise<Opened> {
  const opened = await setting.open();
  await opened.goto(`terminals?open=${agent}/local/0`);
  const tile = opened.page.getByRole('region', { name: `Terminal 0 of ${agent}` });
  await tile.getByRole('button', { name: 'History' }).click();
  const box = tile.getByRole('region', { name: 'History of terminal' });
  await box.locator('pre').first().waitFor();
  return { opened, tile, box };
}

/** Runs in the browser: the lines whose text is in view. */
const LINES_IN_VIEW = `(() => {
  const box = document.querySelector('.history-box');
  const { top, bottom } = box.getBoundingClientRect();
  const range = document.createRange();
  const found = [];
  const texts = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode())
    for (const { index, 0: line } of node.data.matchAll(/line \\d{7}/g)) {
      range.setStart(node, index);
      range.setEnd(node, index + 1);
      const place = range.getBoundingClientRect();
      if (place.top >= top && place.bottom <= bottom) found.push(line);
    }
  return found;
})()`;
const linesInView = (box: Locator): Promise<string[]> => box.page().evaluate<string[]>(LINES_IN_VIEW);

interface DrawnWindow {
  from: number;
  length: number;
}
const windowsIn = (box: Locator): Promise<DrawnWindow[]> =>
  box
    .page()
    .evaluate<DrawnWindow[]>(
      "[...document.querySelectorAll('.history-window')].map((one) => ({ from: Number(one.dataset.from), length: one.textContent.length }))",
    );

test('the first, a middle and the last line of a log of 30 MB are reached by their offset', async () => {
  const { opened, tile, box } = await openHistory();
  expect(log.length).toBeGreaterThan(30_000_000);
  await until(async () => (await linesInView(box)).includes(lineOf(LINES)));
  await tile.getByRole('button', { name: 'Start' }).click();
  await until(async () => (await linesInView(box))[0] === lineOf(1));
  for (const n of [LINES / 2, 123_456]) {
    await tile.getByRole('textbox', { name: 'Offset' }).fill(String(log.indexOf(lineOf(n))));
    await tile.getByRole('button', { name: 'Go' }).click();
    await until(async () => (await linesInView(box)).includes(lineOf(n)));
  }
  await tile.getByRole('button', { name: 'End' }).click();
  await until(async () => (await linesInView(box)).includes(lineOf(LINES)));
  expect(await opened.barriers()).toEqual([]);
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('scrolling through the log keeps a few windows in the page, and what is in view stays where it is', async () => {
  const { opened, tile, box } = await openHistory();
  await tile.getByRole('button', { name: 'End' }).click();
  await until(async () => (await linesInView(box)).includes(lineOf(LINES)));
  const look = async (): Promise<number[]> => {
    const windows = await windowsIn(box);
    expect(windows.length).toBeLessThanOrEqual(MAX_WINDOWS);
    for (const { length } of windows) expect(length).toBeLessThan(2 * WINDOW_BYTES);
    return windows.map(({ from }) => from);
  };
  const scroll = (to: number): Promise<unknown> =>
    opened.page.evaluate(`document.querySelector('.history-box').scrollTop = ${to}`);
  // Twice as far as is kept.
  const goal = log.length - 2 * MAX_WINDOWS * WINDOW_BYTES;
  let seen: string | undefined;
  while ((await look())[0] !== undefined && ((await look())[0] ?? 0) > goal) {
    const [first] = await look();
    await scroll(0);
    [seen] = await linesInView(box);
    await until(async () => ((await look())[0] ?? Infinity) < (first ?? 0));
    // Another window came above it.
    expect(await linesInView(box)).toContain(seen);
  }
  await until(async () => {
    await scroll(1e9);
    return (await linesInView(box)).includes(lineOf(LINES));
  });
  await look();
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('a search finds a line upwards and downwards in the whole log, says what it has not found, and can be stopped', async () => {
  const { opened, tile, box } = await openHistory();
  const { page } = opened;
  const search = tile.getByRole('searchbox', { name: 'Search the whole log' });
  const status = tile.getByRole('status').last();
  await search.fill(lineOf(7));
  await tile.getByRole('button', { name: 'Find older' }).click();
  await box.locator('mark', { hasText: lineOf(7) }).waitFor();
  await search.fill(lineOf(LINES - 7));
  await tile.getByRole('button', { name: 'Find newer' }).click();
  await box.locator('mark', { hasText: lineOf(LINES - 7) }).waitFor();
  await search.fill('never printed');
  await search.press('Enter');
  await status.getByText('No "never printed"').waitFor();
  // The first step is held until the search is stopped; no other follows.
  const asked: (() => Promise<void>)[] = [];
  await page.route('**/log/find?**', (route) => {
    asked.push(() => route.continue());
  });
  await search.press('Enter');
  await status.getByText('Searching at').waitFor();
  await until(() => asked.length === 1);
  await tile.getByRole('button', { name: 'Stop searching' }).click();
  await status.getByText('Bytes').waitFor();
  await asked[0]?.().catch(() => undefined);
  await tile.getByRole('button', { name: 'Start' }).click();
  await until(async () => (await linesInView(box))[0] === lineOf(1));
  expect(asked).toHaveLength(1);
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('the history and a search in it go on by themselves once the gateway answers', async () => {
  const opened = await setting.open();
  const { page } = opened;
  let take = (route: Route): Promise<void> => route.abort();
  await page.route(/\/log(\/find)?\?/, (route) => take(route));
  await opened.goto(`terminals?open=${agent}/local/0`);
  const tile = page.getByRole('region', { name: `Terminal 0 of ${agent}` });
  await tile.getByRole('button', { name: 'History' }).click();
  await tile.getByRole('alert').filter({ hasText: 'The gateway does not answer.' }).waitFor();
  take = (route) => route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad gateway</h1>' });
  await tile.getByRole('alert').filter({ hasText: 'answered with status 502' }).waitFor();
  take = (route) => route.continue();
  const box = tile.getByRole('region', { name: 'History of terminal' });
  await until(async () => (await linesInView(box)).includes(lineOf(LINES)));
  await tile.getByRole('alert').waitFor({ state: 'detached' });
  take = (route) => route.abort();
  await tile.getByRole('searchbox', { name: 'Search the whole log' }).fill(lineOf(LINES - 7));
  await tile.getByRole('button', { name: 'Find older' }).click();
  await tile.getByRole('alert').filter({ hasText: 'The gateway does not answer.' }).waitFor();
  take = (route) => route.continue();
  await box.locator('mark', { hasText: lineOf(LINES - 7) }).waitFor();
  expect(await tile.getByRole('alert').count()).toBe(0);
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('the download is the log, byte for byte', async () => {
  const { opened, tile } = await openHistory();
  const coming = opened.page.waitForEvent('download');
  await tile.getByRole('link', { name: 'Download' }).click();
  const download = await coming;
  expect(download.suggestedFilename()).toBe(`${agent}-local-0.log`);
  expect(readFileSync(await download.path()).equals(log)).toBe(true);
  expect(opened.faults).toEqual([]);
  await opened.close();
});

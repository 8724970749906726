// Terminals of the page in real Chromium: late ones, several people, passwords, selections.
import type { Locator } from 'playwright-core';
import type { SessionRef } from '../../../contracts/ids';
import { sessionPaths } from '../../../exec/session-paths';
import { makeFolder } from '../../../system/make-folder';
import { pageSetting, type ConsolePage } from '../../helpers/gateway/console';
import { QUICK_YIELD, uniqueId } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const setting = pageSetting();

const run = (agent: string, code: string): Promise<unknown> =>
  setting.operator.post(`/v1/sessions/${agent}/local/0/exec`, {
    code,
    yield: { ...QUICK_YIELD, promptMs: 100 },
  });

interface Opened {
  opened: ConsolePage;
  tile: Locator;
  rows: Locator;
}

async function openTile(agent: string, page?: ConsolePage): Promise<Opened> {
  const opened = page ?? (await setting.open());
  await opened.goto(`terminals?open=${agent}/local/0`);
  const tile = opened.page.getByRole('region', { name: `Terminal 0 of ${agent}` });
  return { opened, tile, rows: tile.locator('.xterm-rows') };
}

/** As a host leaves it while the terminal is starting. */
const beginOpening = (ref: SessionRef): void =>
  makeFolder(sessionPaths(setting.engine.dataDir, ref).directory);

async function takeKeyboard({ tile }: Opened, button: 'Type' | 'Take over'): Promise<void> {
  await tile.getByRole('button', { name: button }).click();
  await tile.getByText('you type').waitFor();
  await tile.locator('.xterm-helper-textarea').focus();
}

test.each([
  ['exists', () => undefined],
  ['has opened, while only its folder is there,', beginOpening],
])('a terminal that is opened before its session %s appears when it does', async (_when, before) => {
  const agent = uniqueId('late');
  before({ agent, host: 'local', session: 0 });
  const { opened, tile, rows } = await openTile(agent);
  await tile.getByText('it appears here by itself').waitFor();
  await run(agent, 'echo here-now; cat');
  await rows.getByText('here-now').waitFor();
  await tile.getByText('it appears here by itself').waitFor({ state: 'detached' });
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('taking over is seen on both pages, and the size is the typist’s', async () => {
  const agent = uniqueId('both');
  await run(agent, 'while read -r n; do echo "$n: $(stty size)"; done');
  const [one, two] = [await openTile(agent), await openTile(agent)];
  await two.opened.page.setViewportSize({ width: 700, height: 900 });
  await takeKeyboard(one, 'Type');
  await one.opened.page.keyboard.type('one\n');
  await two.rows.getByText(/one: \d+ \d+/).waitFor();
  await takeKeyboard(two, 'Take over');
  await one.tile.getByText(/operator, .* types/).waitFor();
  await one.tile.getByRole('button', { name: 'Take over' }).waitFor();
  await two.opened.page.keyboard.type('two\n');
  await one.rows.getByText(/two: \d+ \d+/).waitFor();
  const columns = (text: string, of: string): number =>
    Number(new RegExp(`${of}: \\d+ (\\d+)`).exec(text)?.[1]);
  const text = await one.rows.innerText();
  expect(columns(text, 'two')).toBeLessThan(columns(text, 'one'));
  expect([...one.opened.faults, ...two.opened.faults]).toEqual([]);
  await one.opened.close();
  await two.opened.close();
});

test('a password is typed at its prompt, is shown nowhere, and reaches the program', async () => {
  const agent = uniqueId('pw');
  await run(agent, `read -sp 'Password: ' p; printf '\\n%s letters\\n' "\${#p}"; cat`);
  const typing = await openTile(agent);
  await typing.rows.getByText('Password:').waitFor();
  await takeKeyboard(typing, 'Type');
  await typing.opened.page.keyboard.type('correct horse\n');
  await typing.rows.getByText('13 letters').waitFor();
  expect(await typing.rows.innerText()).not.toContain('horse');
  expect(typing.opened.faults).toEqual([]);
  await typing.opened.close();
});

test('true colours are drawn without WebGL', async () => {
  const agent = uniqueId('color');
  await run(agent, "printf '\\033[38;2;1;200;3mtrue-color\\033[0m\\n'; cat");
  const { opened, rows } = await openTile(agent);
  await rows.getByText('true-color', { exact: true }).waitFor();
  const color = await opened.page.evaluate(`(() => {
    const cells = [...document.querySelectorAll('.xterm-rows span')];
    return getComputedStyle(cells.find((one) => one.textContent === 'true-color')).color;
  })()`);
  expect(color).toBe('rgb(1, 200, 3)');
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('a selection is seen without WebGL, and is copied instead of interrupting the program', async () => {
  const agent = uniqueId('sel');
  await run(agent, 'echo selected-text; trap "echo interrupted" INT; while :; do read -r x; done');
  const typing = await openTile(agent);
  const { page } = typing.opened;
  await typing.rows.getByText('selected-text').waitFor();
  await takeKeyboard(typing, 'Type');
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await typing.rows.getByText('selected-text').dblclick({ force: true });
  const layer = typing.tile.locator('.xterm-selection div').first();
  await layer.waitFor();
  const drawn = await page.evaluate<{ color: string; width: number; height: number }>(`(() => {
    const one = document.querySelector('.xterm-selection div');
    const { width, height } = one.getBoundingClientRect();
    return { color: getComputedStyle(one).backgroundColor, width, height };
  })()`);
  expect(drawn.color).not.toMatch(/^(transparent|rgba\(0, 0, 0, 0\)|rgb\(20, 22, 26\))$/);
  expect(drawn.width).toBeGreaterThan(20);
  expect(drawn.height).toBeGreaterThan(5);
  await page.keyboard.press('Control+c');
  await until(async () => (await page.evaluate('navigator.clipboard.readText()')) === 'selected-text');
  // Without a selection the same keys interrupt.
  await typing.rows.click({ position: { x: 5, y: 300 }, force: true });
  await layer.waitFor({ state: 'detached' });
  expect(await typing.rows.innerText()).not.toContain('interrupted');
  await page.keyboard.press('Control+c');
  await typing.rows.getByText('interrupted').waitFor();
  expect(typing.opened.faults).toEqual([]);
  await typing.opened.close();
});

test('a terminal whose code is not there, as after an upgrade, says what to do', async () => {
  const agent = uniqueId('old');
  const opened = await setting.open();
  await opened.page.route(/assets\/screen.*\.js$/, (route) => route.fulfill({ status: 404, body: '' }));
  const { tile } = await openTile(agent, opened);
  await tile.getByText('Reload the page.').waitFor();
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('the keyboard can be taken as soon as the terminal’s code is loaded, not before', async () => {
  const agent = uniqueId('slow');
  await run(agent, 'cat');
  const opened = await setting.open();
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  await opened.page.route(/assets\/screen.*\.js$/, (route) => void released.then(() => route.continue()));
  await opened.goto(`terminals?open=${agent}/local/0`);
  const tile = opened.page.getByRole('region', { name: `Terminal 0 of ${agent}` });
  const button = tile.getByRole('button', { name: 'Type' });
  await button.waitFor();
  expect(await button.isDisabled()).toBe(true);
  release();
  await takeKeyboard({ opened, tile, rows: tile.locator('.xterm-rows') }, 'Type');
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('a person who watches sees the whole screen of a program, also after the connection was lost', async () => {
  const agent = uniqueId('watch');
  await run(agent, "printf '\\033[?1049h\\033[38;1Hlow-row\\033[H'; read -r x");
  const opened = await setting.open();
  let cut = (): void => undefined;
  await opened.page.routeWebSocket(/\/terminal$/, (page) => {
    const server = page.connectToServer();
    cut = () => {
      void server.close();
      void page.close({ code: 1011 });
    };
  });
  await opened.goto(`terminals?open=${agent}/local/0`);
  const tile = opened.page.getByRole('region', { name: `Terminal 0 of ${agent}` });
  const rows = tile.locator('.xterm-rows');
  await rows.getByText('low-row').waitFor();
  cut();
  const lost = tile.getByText('Connection lost');
  await lost.waitFor();
  await lost.waitFor({ state: 'detached' });
  // What is there is drawn by then.
  await opened.page.evaluate(
    'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))',
  );
  expect(await rows.innerText()).toContain('low-row');
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test.each([
  ['before it has typed them', 'input'],
  ['before it answers', 'typed'],
])('keys whose gateway is gone %s are sent again, and typed once', async (_name, lost) => {
  const agent = uniqueId('again');
  await run(agent, 'while read -r x; do echo "got $x"; done');
  const opened = await setting.open();
  let broken = 0;
  await opened.page.routeWebSocket(/\/terminal$/, (page) => {
    const server = page.connectToServer();
    const passing =
      (to: { send: (said: string | Buffer) => void }) =>
      (said: string | Buffer): void => {
        const isLost = broken === 0 && typeof said === 'string' && said.includes(`"kind":"${lost}"`);
        if (!isLost) return to.send(said);
        broken += 1;
        void server.close();
        void page.close({ code: 1011 });
      };
    page.onMessage(passing(server));
    server.onMessage(passing(page));
  });
  await opened.goto(`terminals?open=${agent}/local/0`);
  const tile = opened.page.getByRole('region', { name: `Terminal 0 of ${agent}` });
  const rows = tile.locator('.xterm-rows');
  await takeKeyboard({ opened, tile, rows }, 'Type');
  await opened.page.keyboard.press('z');
  await until(() => broken === 1);
  // Typed into a connection that is being lost, or is lost, or is back: the page need not have noticed.
  await opened.page.keyboard.type('end\n');
  await rows.getByText('got zend').waitFor();
  expect(opened.faults).toEqual([]);
  await opened.close();
});

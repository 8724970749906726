// Keys that are typed while a terminal's connection is lost: they reach the program that they were meant for, or none.
import { createHash } from 'node:crypto';
import type { Locator, WebSocketRoute } from 'playwright-core';
import { pageSetting, type ConsolePage } from '../../helpers/gateway/console';
import { QUICK_YIELD, uniqueId } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const setting = pageSetting();
/** After that a page knows that it is not connected. */
const SILENT_MS = 41_000;

const session = (agent: string): string => `/v1/sessions/${agent}/local/0`;
const run = (agent: string, code: string): Promise<unknown> =>
  setting.operator.post(`${session(agent)}/exec`, { code, yield: { ...QUICK_YIELD, promptMs: 100 } });
const answer = (agent: string, keyboard: string): Promise<unknown> =>
  setting.operator.post(`${session(agent)}/input`, { keyboard });
const logOf = async (agent: string): Promise<string> =>
  String((await setting.operator.ask('GET', `${session(agent)}/log?from=0`)).body);

/** The way from a page to its gateway, which a test breaks. */
class Way {
  private isOpen = true;
  private open: { page: WebSocketRoute; server: WebSocketRoute }[] = [];
  /** Called with each message; one that is answered with true breaks the way, and is lost. */
  isLast: (said: string) => boolean = () => false;

  static async of({ page }: ConsolePage): Promise<Way> {
    const way = new Way();
    await page.routeWebSocket(/\/terminal$/, (one) => way.connect(one));
    return way;
  }

  /** Without a word: neither side notices. */
  silence(): void {
    this.isOpen = false;
  }

  /** `half`: the gateway does not notice. */
  cut({ half = false } = {}): void {
    this.isOpen = false;
    for (const { page, server } of this.open.splice(0)) {
      if (!half) void server.close();
      void page.close({ code: 1011 });
    }
  }

  mend(): void {
    this.isOpen = true;
  }

  private connect(page: WebSocketRoute): void {
    if (!this.isOpen) return void page.close({ code: 1011 });
    const server = page.connectToServer();
    this.open.push({ page, server });
    const pass =
      (to: WebSocketRoute) =>
      (said: string | Buffer): void => {
        if (!this.isOpen) return;
        if (typeof said === 'string' && this.isLast(said)) return this.cut();
        to.send(said);
      };
    page.onMessage(pass(server));
    server.onMessage(pass(page));
  }
}

interface Typing {
  opened: ConsolePage;
  way: Way;
  tile: Locator;
  rows: Locator;
  /** Types while the connection is lost. */
  typeLost: (text: string) => Promise<void>;
}

/** A page that has the keyboard. */
async function typing(agent: string, { hasClock = false } = {}): Promise<Typing> {
  const opened = await setting.open();
  if (hasClock) await opened.page.clock.install();
  const way = await Way.of(opened);
  await opened.goto(`terminals?open=${agent}/local/0`);
  const tile = opened.page.getByRole('region', { name: `Terminal 0 of ${agent}` });
  const rows = tile.locator('.xterm-rows');
  await takeKeyboard(tile, 'Type');
  const typeLost = async (text: string): Promise<void> => {
    await tile.getByText('Connection lost').waitFor();
    await tile.locator('.xterm-helper-textarea').focus();
    await opened.page.keyboard.type(text);
  };
  return { opened, way, tile, rows, typeLost };
}

async function takeKeyboard(tile: Locator, button: 'Type' | 'Take over'): Promise<void> {
  await tile.getByRole('button', { name: button }).click();
  await tile.getByText('you type').waitFor();
  await tile.locator('.xterm-helper-textarea').focus();
}

async function end({ opened }: Typing): Promise<void> {
  expect(opened.faults).toEqual([]);
  await opened.close();
}

const ECHO = 'while read -r x; do echo "got $x"; done';

test('keys typed into a lost connection arrive when it is back', async () => {
  const agent = uniqueId('back');
  await run(agent, ECHO);
  const one = await typing(agent);
  one.way.cut();
  await one.typeLost('late\n');
  one.way.mend();
  await one.rows.getByText('got late').waitFor();
  expect(await one.tile.getByRole('alert').count()).toBe(0);
  await end(one);
});

test.each([
  ['has ended', (agent: string) => answer(agent, 'ok')],
  ['was reset', (agent: string) => setting.operator.post(`${session(agent)}/reset`)],
])(
  'keys meant for a program that %s meanwhile do not reach the next one, and the page says so',
  async (_how, stop) => {
    const agent = uniqueId('next');
    await run(agent, "read -p 'first? ' x");
    const one = await typing(agent);
    one.way.cut();
    await one.typeLost('boom\n');
    await stop(agent);
    await run(agent, `read -p 'second? ' y; echo "second: $y."`);
    one.way.mend();
    await one.tile.getByRole('alert').filter({ hasText: 'the program that it was for has ended' }).waitFor();
    await answer(agent, 'clean');
    await one.rows.getByText('second: clean.').waitFor();
    expect(await logOf(agent)).not.toContain('boom');
    await one.tile.getByRole('button', { name: 'Dismiss' }).click();
    expect(await one.tile.getByRole('alert').count()).toBe(0);
    await end(one);
  },
);

test('keys that wait while somebody else takes the keyboard are not typed, then or later', async () => {
  const agent = uniqueId('taken');
  await run(agent, ECHO);
  const [one, two] = [await typing(agent), await setting.open()];
  one.way.cut();
  await one.typeLost('mine\n');
  await two.goto(`terminals?open=${agent}/local/0`);
  const tile = two.page.getByRole('region', { name: `Terminal 0 of ${agent}` });
  await takeKeyboard(tile, 'Type');
  one.way.mend();
  await one.tile.getByRole('alert').filter({ hasText: 'somebody else has the keyboard' }).waitFor();
  await two.page.keyboard.type('theirs\n');
  await tile.locator('.xterm-rows').getByText('got theirs').waitFor();
  await takeKeyboard(one.tile, 'Take over');
  await one.opened.page.keyboard.type('again\n');
  await one.rows.getByText('got again').waitFor();
  expect(await logOf(agent)).not.toContain('mine');
  await end(one);
  await two.close();
});

test('a page whose connection is lost without the gateway knowing gets its own keyboard back', async () => {
  const agent = uniqueId('half');
  await run(agent, ECHO);
  const one = await typing(agent);
  one.way.cut({ half: true });
  await one.typeLost('here\n');
  one.way.mend();
  await one.rows.getByText('got here').waitFor();
  await one.tile.getByText('you type').waitFor();
  expect(await one.tile.getByRole('button', { name: 'Take over' }).count()).toBe(0);
  await end(one);
});

test('a connection that is cut without a word is found out, and keys typed meanwhile arrive', async () => {
  const agent = uniqueId('silent');
  await run(agent, ECHO);
  const one = await typing(agent, { hasClock: true });
  one.way.silence();
  await one.opened.page.clock.fastForward(SILENT_MS);
  await one.typeLost('here\n');
  one.way.mend();
  await one.rows.getByText('got here').waitFor();
  await end(one);
});

test('of keys that have waited too long none is typed, not even the last of a line', async () => {
  const agent = uniqueId('old');
  await run(agent, ECHO);
  const one = await typing(agent);
  one.way.cut();
  await one.typeLost('first ');
  await one.opened.page.evaluate('{ const now = Date.now; Date.now = () => now() + 11_000; }');
  await one.opened.page.keyboard.type('rest\n');
  one.way.mend();
  await one.tile.getByRole('alert').filter({ hasText: 'lost for too long' }).waitFor();
  await one.opened.page.keyboard.type('new\n');
  await one.rows.getByText('got new').waitFor();
  expect(await logOf(agent)).not.toContain('rest');
  await end(one);
});

test('keys that wait are gone with their tile', async () => {
  const agent = uniqueId('closed');
  await run(agent, ECHO);
  const one = await typing(agent);
  one.way.cut();
  await one.typeLost('gone\n');
  await one.tile.getByRole('button', { name: 'Close this tile' }).click();
  await one.tile.waitFor({ state: 'detached' });
  one.way.mend();
  await one.opened.goto(`terminals?open=${agent}/local/0`);
  await takeKeyboard(one.tile, 'Type');
  await one.opened.page.keyboard.type('new\n');
  await one.rows.getByText('got new').waitFor();
  expect(await logOf(agent)).not.toContain('gone');
  await end(one);
});

/** As a browser pastes. */
async function paste({ opened }: Typing, text: string): Promise<void> {
  await opened.page.evaluate(
    `((text) => {
      const clipboardData = new DataTransfer();
      clipboardData.setData('text/plain', text);
      document.querySelector('.xterm-helper-textarea').dispatchEvent(
        new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }),
      );
    })(${JSON.stringify(text)})`,
  );
}

test.each([
  ['', 0],
  [', over a connection that breaks in the middle,', 3],
])('a paste of a megabyte%s arrives whole, each byte once', async (_name, breaksAt) => {
  const agent = uniqueId('paste');
  // Its parts end within characters.
  const text = 'ä€😀x'.repeat(100_000);
  const size = Buffer.byteLength(text);
  expect(size).toBe(1_000_000);
  await run(agent, `stty raw -echo; printf 'ready\\r\\n'; head -c ${size} | sha256sum; stty sane; cat`);
  const one = await typing(agent);
  await one.rows.getByText('ready').waitFor();
  let answers = 0;
  one.way.isLast = (said) => said.includes('"kind":"typed"') && ++answers === breaksAt;
  await paste(one, text);
  if (breaksAt > 0) {
    await until(() => answers >= breaksAt);
    one.way.mend();
  }
  await one.rows.getByText(createHash('sha256').update(text).digest('hex').slice(0, 40)).waitFor();
  expect(answers).toBeGreaterThan(breaksAt);
  expect(await one.tile.getByRole('alert').count()).toBe(0);
  await end(one);
});

test('a paste that a program does not read ends where nothing more fits, and the page says so', async () => {
  const agent = uniqueId('full');
  await run(agent, "stty raw -echo; printf 'ready\\r\\n'; sleep 600");
  const one = await typing(agent);
  await one.rows.getByText('ready').waitFor();
  await paste(one, 'x'.repeat(1_300_000));
  await one.tile.getByRole('alert').filter({ hasText: 'does not read' }).waitFor();
  await end(one);
});

test('where nothing runs, the page says that nothing reads what is typed', async () => {
  const agent = uniqueId('none');
  await run(agent, 'echo over');
  const one = await typing(agent);
  await one.opened.page.keyboard.type('x');
  await one.tile.getByText('Nothing runs here').waitFor();
  await run(agent, ECHO);
  await one.tile.getByText('Nothing runs here').waitFor({ state: 'detached' });
  await one.opened.page.keyboard.type('now\n');
  await one.rows.getByText('got now').waitFor();
  expect(await logOf(agent)).not.toContain('xnow');
  await end(one);
});

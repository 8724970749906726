// The page while what is behind it is killed with SIGKILL in the middle of a turn: it goes on by itself, and shows each
// message once.
import { once } from 'node:events';
import type { ChildProcess } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Browser } from 'playwright-core';
import { TokenStore } from '../../../gateway/access/token-store';
import type { Gateway } from '../../../gateway/gateway';
import { ConsolePage } from '../../helpers/gateway/console';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { call, scratch, uniqueId, type Reply } from '../../helpers/engines/temporal';
import { freePort } from '../../helpers/free-port';
import { fileNeeds } from '../../helpers/run/programs';
import { until } from '../../helpers/until';

fileNeeds('chromium');
jest.setTimeout(180_000);

const engine = new EngineOfItsOwn();
const files = scratch();
let serving: { child: ChildProcess; url: string };
let browser: Browser;
beforeAll(async () => {
  await engine.start();
  serving = await serve(`127.0.0.1:${await freePort()}`);
  browser = await ConsolePage.launch();
});
afterAll(async () => {
  await browser.close();
  await kill(serving.child);
  files.remove();
  expect(await engine.end()).toEqual([]);
});

/** `holdfast serve`, as a process of its own. */
async function serve(listen: string): Promise<typeof serving> {
  const child = engine.spawnCli(['serve', '--listen', listen, '--json']);
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  if (!child.stdout) throw new Error('no output');
  for await (const line of createInterface({ input: child.stdout }))
    return { child, url: (JSON.parse(line) as { url: string }).url };
  throw new Error(`it ended: ${said}`);
}

async function kill(child: ChildProcess): Promise<void> {
  const over = once(child, 'exit');
  child.kill('SIGKILL');
  await over;
}

const open = (): Promise<ConsolePage> => {
  const tokens = new TokenStore(engine.dataDir);
  return ConsolePage.open(browser, { url: serving.url, tokens } as Gateway);
};

async function start(replies: Reply[]): Promise<string> {
  const id = uniqueId('kill');
  await engine.client.agent(id).start({
    ...{ task: 'first', mode: 'conversation' },
    ...files.settings(replies),
    yield: { firstOutputMs: 600_000, betweenOutputMs: 600_000, maxMs: 600_000 },
  });
  return id;
}

/** A command that says that it runs, and ends when it is asked to. */
function gated(name: string): { reply: Reply; begun: () => boolean; release: () => void } {
  const [begun, go] = [join(files.directory, `${name}.begun`), join(files.directory, `${name}.go`)];
  const code = `echo ${name} >> ${name}.ran; touch ${begun}; until [ -e ${go} ]; do sleep 0.05; done; echo ${name}-over`;
  return {
    reply: { text: call('code_execution_tool', { runtime: 'terminal', code }) },
    begun: () => existsSync(begun),
    release: () => writeFileSync(go, ''),
  };
}

/** The messages that the page shows are those of the transcript: each once, in order. */
async function expectEachOnce(opened: ConsolePage, id: string): Promise<void> {
  // Until then the last turn has its messages.
  await until(async () => (await engine.client.agent(id).ownState()).status === 'idle');
  const { messages } = await engine.client.agent(id).transcript();
  const expected = messages.flatMap(({ role }, index) => (role === 'tool' ? [] : [String(index)]));
  const shown = await opened.page.evaluate<string[]>(
    "[...document.querySelectorAll('[data-message]')].map((one) => one.dataset.message)",
  );
  expect(shown).toEqual(expected);
}

test('SIGKILL of the worker in a command: the page shows the rest of the turn, each message once', async () => {
  const { reply, begun, release } = gated('worker');
  const id = await start([reply, { text: 'the answer' }]);
  const opened = await open();
  const { page } = opened;
  await opened.goto(`agents/${id}`);
  await page.getByRole('log').locator('summary', { hasText: 'echo worker' }).waitFor();
  await until(begun);
  await engine.killWorker();
  release();
  await engine.startWorker();
  await page.getByRole('log').getByText('the answer', { exact: true }).waitFor();
  await page.getByRole('log').locator('summary', { hasText: 'echo worker' }).click();
  await page
    .getByRole('region', { name: /^Result/ })
    .getByText('worker-over')
    .waitFor();
  await expectEachOnce(opened, id);
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('SIGKILL of the gateway in a turn: the page says so, comes back by itself and lacks nothing', async () => {
  const { reply, begun, release } = gated('gateway');
  const id = await start([reply, { text: 'the answer' }, { text: 'the second' }]);
  const opened = await open();
  const { page } = opened;
  await opened.goto(`agents/${id}`);
  await page.getByRole('log').locator('summary', { hasText: 'echo gateway' }).waitFor();
  await until(begun);
  const { port } = new URL(serving.url);
  await kill(serving.child);
  await page.getByText('Not connected to the gateway').waitFor();
  // A proxy in front of it answers in its place, which ends a browser's own attempts.
  const refused = page.waitForResponse((response) => response.status() === 502);
  await page.route('**/events*', (route) => route.fulfill({ status: 502 }));
  await refused;
  await page.unroute('**/events*');
  // What happens meanwhile is there afterwards: the end of the turn, and a whole turn.
  release();
  await engine.client.agent(id).send('meanwhile');
  serving = await serve(`127.0.0.1:${port}`);
  await page.getByText('Not connected to the gateway').waitFor({ state: 'detached' });
  await page.getByRole('log').getByText('the second', { exact: true }).waitFor();
  await expectEachOnce(opened, id);
  await page.getByRole('textbox', { name: 'Message' }).waitFor();
  expect(opened.faults).toEqual([]);
  await opened.close();
});

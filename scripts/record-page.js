// Makes docs/images/*.png: the page of `holdfast serve`, from a real run with a scripted model whose worker is killed in the
// middle. Run after a change of the page; it needs Chromium. Look at the pictures: they show what tests do not.
const { execFileSync, spawn } = require('node:child_process');
const { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { createInterface } = require('node:readline');
const { chromium } = require('playwright-core');
const { toolCall: call } = require('../dist/testing');
const { runningWorker } = require('../dist/workers/process/worker-record');
const { findOnPath } = require('../dist/system/executable');

const root = join(__dirname, '..');
const images = join(root, 'docs', 'images');
const MAX_BYTES = 150_000;
const MAX_HEIGHT = 1_310;
const PATIENCE_MS = 60_000;

const PATCH = `*** Begin Patch
*** Update File: src/retry.ts
@@
-  for (let attempt = 0; ; attempt++) {
+  for (let attempt = 0; attempt < limit; attempt++) {
     try {
       return await work();
-    } catch {}
+    } catch (err) {
+      if (!isPassing(err)) throw err;
+    }
     await pause(attempt);
*** End Patch`;
const RETRY = `export async function retry(work, limit) {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work();
    } catch {}
    await pause(attempt);
  }
}
`;
const usage = (inputTokens, outputTokens, costUsd) => ({ inputTokens, outputTokens, costUsd });
const terminal = (code, headline) =>
  call('code_execution_tool', { runtime: 'terminal', code, session: 0 }, headline);
const REPLIES = [
  { text: call('apply_patch', { input: PATCH }, 'End the loop'), usage: usage(2_410, 188, 0.0101) },
  {
    text: terminal('for n in 1 2 3 4 5 6; do echo ok $n retries; sleep 1; done', 'Run the tests'),
    usage: usage(2_730, 54, 0.009),
  },
  {
    text:
      'The loop never ended when the work kept failing. `retry` now\n\n' +
      '- gives up after **limit** attempts,\n- and passes on errors that will not go away. All six tests pass.',
    usage: usage(2_950, 71, 0.01),
  },
];
const WAITS = [
  { text: terminal("read -p 'Deploy 2.4.0 to production? [y/N] ' answer", 'Deploy') },
  { text: 'It asks whether to deploy.' },
];

const MIGRATION = `psql shop <<SQL
ALTER TABLE orders ADD COLUMN paid_at timestamptz;
UPDATE orders SET paid_at = created_at;
SQL`;
const HELD = [{ text: terminal(MIGRATION, 'Migrate') }];

/** The folder in which the agents work. Workers run in the data folder: a model there is named without a path. */
function prepare() {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-page-'));
  mkdirSync(join(folder, 'shop', 'src'), { recursive: true });
  mkdirSync(join(folder, 'data'));
  writeFileSync(join(folder, 'shop', 'src', 'retry.ts'), RETRY);
  writeFileSync(join(folder, 'data', 'fix.yaml'), JSON.stringify(REPLIES));
  writeFileSync(join(folder, 'data', 'migrate.yaml'), JSON.stringify(HELD));
  writeFileSync(join(folder, 'data', 'deploy.yaml'), JSON.stringify(WAITS));
  writeFileSync(join(folder, 'data', 'holdfast.toml'), '[policy.agents]\n"migration" = "ask"\n');
  return folder;
}

async function serve(folder) {
  const env = { ...process.env, HOLDFAST_DATA: join(folder, 'data'), NO_COLOR: '1' };
  const args = [join(root, 'bin', 'holdfast.js'), 'serve', '--listen', '127.0.0.1:0', '--link', '--json'];
  const child = spawn(process.execPath, args, { env, cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: child.stdout }))
    return { child, env, ...JSON.parse(line) };
  throw new Error('the gateway did not start');
}

/** With the page's own log-in. */
const post = (page, path, body) =>
  page.evaluate(
    async ([where, what]) => {
      const headers = { 'Content-Type': 'application/json' };
      const answer = await fetch(where, { method: 'POST', headers, body: JSON.stringify(what) });
      if (!answer.ok) throw new Error(await answer.text());
      return answer.json();
    },
    [path, body],
  );

/** With SIGKILL; `holdfast serve` starts the next one. */
function killWorker(dataDir) {
  process.kill(runningWorker(dataDir).identity.pid, 'SIGKILL');
}

async function pictureOfAgent(page, folder) {
  const cwd = join(folder, 'shop');
  const yielding = { firstOutputMs: 30_000, betweenOutputMs: 30_000, maxMs: 30_000 };
  await post(page, '/v1/agents', {
    ...{ id: 'fix-retry', task: 'The retry loop hangs. Find out why, and fix it.', mode: 'conversation' },
    ...{ model: 'scripted:fix.yaml', cwd, yield: yielding },
  });
  await page.goto(`${new URL(page.url()).origin}/#/agents/fix-retry`);
  const log = page.getByRole('log');
  await log.locator('summary', { hasText: 'retries' }).waitFor();
  await page.getByRole('button', { name: /^local 0 running/ }).waitFor();
  killWorker(join(folder, 'data'));
  await log.getByText('All six tests pass.').waitFor();
  await log.locator('summary', { hasText: 'apply_patch' }).click();
  await page.getByText('What happened, and when').click();
  await page.locator('.time-line li.taken_over').waitFor();
  await page.evaluate(() => {
    document.activeElement.blur();
    scrollTo(0, 0);
  });
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  await page.setViewportSize({ width: 1080, height: Math.min(height, MAX_HEIGHT) });
  await page.screenshot({ path: join(images, 'page-agent.png') });
}

async function pictureOfInbox(page, folder) {
  const cwd = join(folder, 'shop');
  await page.setViewportSize({ width: 1080, height: 620 });
  await page.emulateMedia({ colorScheme: 'dark' });
  await post(page, '/v1/agents', {
    id: 'deploy',
    task: 'Deploy 2.4.0.',
    model: 'scripted:deploy.yaml',
    cwd,
    mode: 'conversation',
  });
  await post(page, '/v1/agents', {
    ...{ id: 'migration', task: 'Add the column paid_at.', mode: 'conversation' },
    // A folder that each machine has; nothing runs there, for nothing is approved.
    ...{ model: 'scripted:migrate.yaml', cwd: '/srv' },
  });
  await page.goto(`${new URL(page.url()).origin}/#/inbox`);
  await page.getByRole('article', { name: /^deploy/ }).waitFor();
  await page
    .getByRole('article', { name: /^migration/ })
    .getByText('paid_at timestamptz')
    .waitFor();
  await page.screenshot({ path: join(images, 'page-inbox.png') });
}

async function main() {
  const folder = prepare();
  const { child, env, link } = await serve(folder);
  const executablePath = ['chromium', 'chromium-browser', 'google-chrome']
    .map((name) => findOnPath(name, process.env.PATH))
    .find(Boolean);
  const browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-lcd-text'],
  });
  try {
    mkdirSync(images, { recursive: true });
    const context = await browser.newContext({
      viewport: { width: 1080, height: 900 },
      reducedMotion: 'reduce',
    });
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    await page.goto(link);
    await page.getByRole('heading', { name: 'Inbox' }).waitFor();
    await pictureOfAgent(page, folder);
    await pictureOfInbox(page, folder);
    for (const name of ['page-agent.png', 'page-inbox.png']) {
      const { size } = statSync(join(images, name));
      if (size > MAX_BYTES) throw new Error(`${name} has ${size} bytes: at most ${MAX_BYTES}`);
    }
  } finally {
    await browser.close();
    child.kill('SIGTERM');
    const down = [join(root, 'bin', 'holdfast.js'), 'down', '--sessions'];
    execFileSync(process.execPath, down, { env, stdio: 'ignore' });
    rmSync(folder, { recursive: true, force: true });
  }
}

main().catch((err) => {
  console.error(err);
  process.exit(1);
});

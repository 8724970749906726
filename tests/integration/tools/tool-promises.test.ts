// What docs/tools.md says of time-outs, secrets and Ctrl-C, with own tools in real sessions.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionHandle } from '../../../client/session-handle';
import { packageRoot } from '../../../system/package-root';
import { processStat } from '../../../system/processes/proc';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { until } from '../../helpers/until';
import { holderRecord } from '../../helpers/terminals/holder-record';

const TOOLS = [join(packageRoot(), 'tests', 'fixtures', 'promise-tools.mjs')];
const engine = new EngineOfItsOwn();
let folder: string;
let sessions = 0;
let session: SessionHandle;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-promises-'));
  await engine.start({ tools: TOOLS });
}, 60_000);
beforeEach(() => {
  session = engine.client.session({ agent: 'promises', session: sessions++ }, { cwd: folder });
});
afterAll(async () => {
  const left = await engine.end();
  rmSync(folder, { recursive: true, force: true });
  expect(left).toEqual([]);
}, 60_000);

const linesOf = (name: string): string[] =>
  existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8').split('\n').slice(0, -1) : [];

async function printed(code: string): Promise<string> {
  const { output, state } = await session.exec({ code, yield: { firstOutputMs: 600_000, maxMs: 600_000 } });
  expect(state).toBe('exited');
  return output.replaceAll('\r', '');
}

test('a call that takes longer than its tool may is unknown if the tool may run only once', async () => {
  expect(await printed('tool slow_once --file "$PWD/once" 2>&1')).toMatch(
    /^unknown_outcome: .*it timed out after 1000 ms/,
  );
  expect(linesOf('once')).toHaveLength(1);
}, 60_000);

test('the server does not cut off a call of a tool with a short time-out while its large result waits for a bucket', async () => {
  const MINUTE_MS = 60_000;
  await printed('tool slow_once --file "$PWD/given-time" 2>&1');
  const { events } = await engine.client.temporal.workflow.getHandle(session.workflowId).fetchHistory();
  const [given] = (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
    scheduled?.activityType?.name === 'invokeTool' ? [Number(scheduled.startToCloseTimeout?.seconds)] : [],
  );
  // Room for it is looked for, and then it is stored: each may take a minute, and so may the arguments before.
  expect(Number(given) * 1_000).toBeGreaterThan(1_000 + 5 * MINUTE_MS);
}, 60_000);

test('a call that takes longer than its tool may starts again under the same key if the tool may be repeated', async () => {
  expect(await printed('tool slow_again --file "$PWD/again" 2>&1')).toBe('attempt 2\n');
  const [first, second, ...more] = linesOf('again');
  expect([second, more]).toEqual([first, []]);
}, 60_000);

test('secret arguments are in no summary and in no error', async () => {
  expect(await printed('tool unlock --pin 4711; tool unlock --pin 471147 2>&1')).toMatch(
    /^open\ninvalid_input: (?!.*4711)/,
  );
  const { events } = await engine.client.temporal.workflow.getHandle(session.workflowId).fetchHistory();
  const summaries = (events ?? []).flatMap(({ userMetadata }) =>
    userMetadata?.summary?.data ? [Buffer.from(userMetadata.summary.data).toString()] : [],
  );
  expect(summaries).toContain('"script: unlock"');
}, 60_000);

test('Ctrl-C in the session cancels the call that its script waits for: the tool is told, and the shell continues', async () => {
  const running = session.exec({ code: 'tool hang --file "$PWD/hang"' });
  await until(() => linesOf('hang').length === 1);
  await session.input({ keys: ['ctrl-c'] });
  expect((await running).exitCode).toBe(130);
  await until(() => linesOf('hang').includes('told'));
  expect(await printed('echo on')).toBe('on\n');
}, 60_000);

test('a call of a script whose session was reset is told at once: it opens no session, however late it comes to it', async () => {
  await session.exec({ code: 'tool opens --file "$PWD/late" --session 900 &' });
  await until(() => linesOf('late').length === 1);
  await session.reset();
  writeFileSync(join(folder, 'late.go'), '');
  await until(() => linesOf('late').length === 2);
  expect(linesOf('late')).toEqual(['began', 'not sent']);
  const opened = engine.client.session({ agent: 'promises', session: 900 });
  await expect(opened.state()).rejects.toMatchObject({ code: 'not_found' });
}, 60_000);

describe('when the terminal of a script is killed, the call that it waits for is cancelled', () => {
  const killHolder = (): void => void process.kill(holderRecord(engine, session.ref).identity.pid, 'SIGKILL');
  const noCallRuns = async (): Promise<void> => {
    const workflow = engine.client.temporal.workflow.getHandle(session.workflowId);
    await until(async () => ((await workflow.describe()).raw.pendingActivities ?? []).length === 0);
  };

  test('while its command runs: the tool is told', async () => {
    const running = session.exec({ code: 'tool hang --file "$PWD/killed"' });
    await until(() => linesOf('killed').length === 1);
    killHolder();
    expect((await running).state).toBe('lost');
    await until(() => linesOf('killed').includes('told'));
    await noCallRuns();
  }, 60_000);

  test('while it runs in the background: the tool is told', async () => {
    await session.exec({ code: 'tool hang --file "$PWD/background" &' });
    await until(() => linesOf('background').length === 1);
    killHolder();
    await until(() => linesOf('background').includes('told'));
    await noCallRuns();
  }, 60_000);

  test('while no worker is there: the next one does not run it to its end', async () => {
    const running = session.exec({ code: 'tool hang_again --file "$PWD/between"' });
    await until(() => linesOf('between').length === 1);
    await engine.killWorker();
    killHolder();
    await engine.startWorker({ tools: TOOLS });
    expect((await running).state).toBe('lost');
    await noCallRuns();
  }, 60_000);
});

test.each([
  { name: 'small', length: 5, worker: 'the same worker' },
  { name: 'large', length: 300_000, worker: 'the same worker' },
  { name: 'kept', length: 5, worker: 'the next worker' },
])(
  'a call that ends while its terminal is stopped gives the script its $name result once the terminal continues, from $worker',
  async ({ name, length, worker }) => {
    const code = `tool answers --file "$PWD/${name}" --length ${length} | wc -c`;
    const running = session.exec({ id: 'counts', code });
    running.catch(() => undefined);
    await until(() => linesOf(name).length === 1);
    const { pid } = holderRecord(engine, session.ref).identity;
    process.kill(pid, 'SIGSTOP');
    try {
      await until(() => processStat(pid)?.state === 'T');
      const logged = (): string => readFileSync(join(engine.dataDir, 'worker.log'), 'utf8');
      const before = logged().length;
      writeFileSync(join(folder, `${name}.go`), '');
      await until(() => logged().slice(before).includes('a call could not be answered'));
      if (worker === 'the next worker') {
        await engine.killWorker();
        await engine.startWorker({ tools: TOOLS });
      }
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    // Who waited for the command learned that its terminal does not answer.
    await running.catch(() => undefined);
    expect((await session.output({ wait: 'exit', waitMs: 30_000, from: 0 })).output.trim()).toBe(
      String(length),
    );
    expect(linesOf(name)).toEqual(['ran']);
  },
  60_000,
);

test('an error whose text is too long for a history reaches its script, cut, and its tool runs once', async () => {
  const said = await printed('tool talks --file "$PWD/talks" 2>&1 | cut -c 1-200 | head -1');
  expect(said).toMatch(/^not_found: The article does not exist: got x+/);
  expect(linesOf('talks')).toEqual(['ran']);
}, 60_000);

// P8: whatever is killed while a script calls tools, the script that still runs gets its answers, and no tool has its
// effect twice.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CrashPoint } from '../../system/faults/crash-point';
import type { SessionHandle } from '../../client/session-handle';
import { packageRoot } from '../../system/package-root';
import { runningWorker } from '../../workers/process/worker-record';
import { EngineOfItsOwn } from '../helpers/engines/engine-of-its-own';
import { count, testEachOf } from '../helpers/run/long-run';
import { until } from '../helpers/until';

const CALLS = count(30, 200);
const KILLS = count(2, 5);

const engine = new EngineOfItsOwn({ ownServer: true });
let sessions = 0;
let session: SessionHandle;
let folder: string;

beforeAll(async () => {
  await engine.start({ tools: [join(packageRoot(), 'tests', 'fixtures', 'script-tools.mjs')] });
}, 60_000);
afterAll(async () => {
  expect(await engine.end()).toEqual([]);
}, 60_000);
beforeEach(async () => {
  await engine.start();
  folder = mkdtempSync(join(tmpdir(), 'holdfast-calls-'));
  session = engine.client.session({ agent: 'calls', session: sessions++ }, { cwd: folder });
});
afterEach(async () => {
  await engine.start();
  await session.close('the test has ended').catch(() => undefined);
  await session.closed();
  rmSync(folder, { recursive: true, force: true });
});

const fileOf = (name: string): string => {
  const path = join(folder, name);
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
};
const linesOf = (name: string): string[] => fileOf(name).split('\n').slice(0, -1);

/** It prints nothing until worker or server are back. */
const AT_ITS_END = { firstOutputMs: 600_000, betweenOutputMs: 600_000, maxMs: 600_000 };
const python = (code: string): ReturnType<SessionHandle['exec']> =>
  session.exec({ runtime: 'python', code: `import codex_tools, os, time\n${code}`, yield: AT_ITS_END });

/** Ids of the calls recorded as activities, across all runs of the session. */
async function recordedCalls(): Promise<string[]> {
  const { temporal } = engine.client;
  const ids: string[] = [];
  const query = `WorkflowId = "${session.workflowId}"`;
  for await (const { runId } of temporal.workflow.list({ query })) {
    const { events } = await temporal.workflow.getHandle(session.workflowId, runId).fetchHistory();
    for (const { activityTaskScheduledEventAttributes: scheduled } of events ?? []) {
      if (scheduled?.activityType?.name !== 'invokeTool') continue;
      const data = scheduled.input?.payloads?.[0]?.data ?? new Uint8Array();
      const { call } = JSON.parse(Buffer.from(data).toString()) as { call: { callId: string } };
      ids.push(call.callId);
    }
  }
  return ids;
}

test('a script makes many calls while its worker is killed again and again: each is recorded once and answered rightly', async () => {
  const running = python(
    `for i in range(${CALLS}):\n  assert codex_tools.note(folder=os.getcwd(), line=str(i)) == f"noted {i}"\nprint("all")`,
  );
  running.catch(() => undefined);
  for (let kill = 1; kill <= KILLS; kill++) {
    await until(() => linesOf('notes').length >= (kill * CALLS) / (KILLS + 1));
    await engine.killWorker();
    await engine.startWorker();
  }
  const { output } = await session.output({ wait: 'exit', waitMs: 120_000, from: 0 });
  expect(output).toContain('all');
  await running;
  expect(linesOf('notes')).toEqual(Array.from({ length: CALLS }, (_, i) => String(i)));
  const recorded = await recordedCalls();
  expect([recorded.length, new Set(recorded).size]).toEqual([CALLS, CALLS]);
}, 180_000);

test('a call that may run only once and is cut off by a kill runs once and ends as unknown in the script, which continues', async () => {
  const running = python(
    'try:\n  codex_tools.fire(folder=os.getcwd(), ms=600000)\nexcept codex_tools.ToolError as e:\n' +
      '  print(e.code, e.retryable, e.call_id)\nprint(codex_tools.note(folder=os.getcwd(), line="after"))',
  );
  running.catch(() => undefined);
  await until(() => fileOf('fired') !== '');
  await engine.killWorker();
  await engine.startWorker();
  expect((await running).output).toMatch(/unknown_outcome False e1c1\s+noted after/);
  expect(fileOf('fired')).toBe('x');
}, 60_000);

const POINTS: [string, CrashPoint][] = [
  ['when the call has come, before it is recorded', 'call-arrived'],
  ['when it is recorded, before the script has the outcome', 'call-recorded'],
  ['when the script has the outcome', 'call-answered'],
];
testEachOf(POINTS, ([, point]) => point === 'call-recorded')(
  'a worker that dies %s: the tool has its effect once, and the script its answer',
  async (_when, point) => {
    const view = await engine.crashingAt(point, () =>
      python('print(codex_tools.fire(folder=os.getcwd(), ms=0))'),
    );
    expect(view.output).toMatch(/^fired\s*$/);
    expect(fileOf('fired')).toBe('x');
    expect(await recordedCalls()).toEqual(['e1c1']);
  },
  60_000,
);

describe('a worker dies during a call, and its tool is forbidden before the next worker starts', () => {
  const config = join(engine.dataDir, 'holdfast.toml');
  const forbid = (): void => writeFileSync(config, '[policy.tools]\nfire = "deny"\n');
  afterEach(async () => {
    rmSync(config);
    await engine.killWorker();
  });
  const fire = (ms: number): string => `
for ms in (${ms}, 0):
  try:
    print(codex_tools.fire(folder=os.getcwd(), ms=ms))
  except codex_tools.ToolError as e:
    print(e.code)`;

  test('a call that runs is not refused as if nothing had run; the next one is', async () => {
    const running = python(fire(600_000));
    running.catch(() => undefined);
    await until(() => fileOf('fired') !== '');
    await engine.killWorker();
    forbid();
    await engine.startWorker();
    expect((await running).output).toMatch(/^unknown_outcome\s+policy_denied\s*$/);
    expect(fileOf('fired')).toBe('x');
  }, 60_000);

  test.each([
    ['that has ended gets its result', 'call-recorded', 'fired', 'x'],
    ['that was not recorded is refused, and does not run', 'call-arrived', 'policy_denied', ''],
  ] as const)(
    'a call %s',
    async (_what, point, printed, fired) => {
      const meanwhile = (): Promise<void> => Promise.resolve(forbid());
      const { output } = await engine.crashingAt(point, () => python(fire(0)), meanwhile);
      expect(output.split(/\s+/)).toEqual([printed, 'policy_denied', '']);
      expect(fileOf('fired')).toBe(fired);
    },
    60_000,
  );
});

test('SIGKILL of the server between a call and its answer: the script gets the answer, the tool ran once', async () => {
  const running = python('print(codex_tools.fire(folder=os.getcwd(), ms=1500))');
  running.catch(() => undefined);
  await until(() => fileOf('fired') !== '');
  await engine.killServer();
  await engine.startServer();
  await until(() => runningWorker(engine.dataDir) !== undefined);
  expect((await running).output).toMatch(/^fired\s*$/);
  expect(fileOf('fired')).toBe('x');
}, 90_000);

test('calls continue across continue-as-new: none is lost, none repeated', async () => {
  const calls = count(90, 450);
  const running = python(
    `for i in range(${calls}):\n  codex_tools.note(folder=os.getcwd(), line=str(i))\nprint("all")`,
  );
  running.catch(() => undefined);
  await until(() => fileOf('notes') !== '');
  const { output } = await session.output({ wait: 'exit', waitMs: 150_000, from: 0 });
  await running;
  expect(output).toContain('all');
  expect(linesOf('notes')).toEqual(Array.from({ length: calls }, (_, i) => String(i)));
  const runs: string[] = [];
  for await (const { runId } of engine.client.temporal.workflow.list({
    query: `WorkflowId = "${session.workflowId}"`,
  }))
    runs.push(runId);
  expect(runs.length).toBeGreaterThan(1);
}, 180_000);

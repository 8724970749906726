import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LOCAL_HOST } from '../../contracts/ids';
import { logEnd, readLog } from '../../exec/output/log-reader';
import { sessionPaths } from '../../exec/session-paths';
import { stopWorker } from '../../workers/process/worker-process';
import { runningWorker } from '../../workers/process/worker-record';
import { EngineOfItsOwn } from '../helpers/engines/engine-of-its-own';
import { count, isLongRun } from '../helpers/run/long-run';
import { call, QUICK_YIELD, scratch, type Scratch } from '../helpers/engines/temporal';
import { holderRecord } from '../helpers/terminals/holder-record';
import { until } from '../helpers/until';

const engine = new EngineOfItsOwn({ ownServer: true });
let files: Scratch;
let cwd: string;
let onNoHost: Promise<unknown>;

beforeAll(async () => {
  files = scratch();
  cwd = mkdtempSync(join(tmpdir(), 'holdfast-kills-'));
  await engine.start();
  // It takes half a minute: it is started here, and awaited in its test.
  onNoHost = engine.client.session({ agent: 'kills', host: 'nowhere', session: 0 }).exec({ code: 'true' });
  onNoHost.catch(() => undefined);
}, 60_000);
afterAll(async () => {
  const left = await engine.end();
  files.remove();
  rmSync(cwd, { recursive: true, force: true });
  expect(left).toEqual([]);
}, 60_000);
// Restart whatever a test has killed for the next one.
beforeEach(() => engine.start());

let sessions = 0;
const newSession = (): ReturnType<typeof engine.client.session> =>
  engine.client.session({ agent: 'kills', session: sessions++ }, { cwd });

const logOf = (session: number): string =>
  sessionPaths(engine.dataDir, { agent: 'kills', host: LOCAL_HOST, session }).log;

/** Until a worker has begun an activity of the workflow. */
const untilDelivered = (workflowId: string, activity: string): Promise<void> =>
  until(async () => {
    const { raw } = await engine.client.temporal.workflow.getHandle(workflowId).describe();
    return (
      raw.pendingActivities?.some((a) => a.activityType?.name === activity && a.lastStartedTime) ?? false
    );
  });

async function untilLogHas(session: number, bytes: number): Promise<void> {
  while (logEnd(logOf(session)) < bytes) await new Promise((resolve) => setTimeout(resolve, 5));
}

const LINES = count(100_000, 400_000);
const FLOOD = (name: string): string =>
  `echo ran >> ${name}; for ((i = 1; i <= ${LINES}; i++)); do echo "line $i"; done; (exit 7)`;

function expectWholeFlood(session: number): void {
  const lines = readLog(logOf(session), 0, logEnd(logOf(session)))
    .toString('latin1')
    .split('\r\n');
  expect(lines.pop()).toBe('');
  expect(lines).toHaveLength(LINES);
  expect(lines.findIndex((line, index) => line !== `line ${index + 1}`)).toBe(-1);
}

test('SIGKILL of the worker in a flood of lines loses no line, repeats none, and the command runs once', async () => {
  const session = newSession();
  const running = session.exec({ code: FLOOD('flood-worker') });
  await untilLogHas(session.ref.session, 100_000);
  await engine.killWorker();
  await engine.startWorker();
  expect(await running).toMatchObject({ state: 'exited', exitCode: 7 });
  expectWholeFlood(session.ref.session);
  expect(readFileSync(join(cwd, 'flood-worker'), 'utf8')).toBe('ran\n');
}, 60_000);

test('SIGKILL of the server in a flood loses nothing: it continues from the same database', async () => {
  const session = newSession();
  const running = session.exec({ code: FLOOD('flood-server') });
  await untilLogHas(session.ref.session, 100_000);
  await engine.killServer();
  await engine.startServer();
  expect(await running).toMatchObject({ state: 'exited', exitCode: 7 });
  expectWholeFlood(session.ref.session);
  expect(readFileSync(join(cwd, 'flood-server'), 'utf8')).toBe('ran\n');
}, 60_000);

test('SIGKILL of the worker while a command waits for input: the input reaches the same process, and the workflow has not noticed', async () => {
  const session = newSession();
  const first = await session.exec({ code: 'echo $BASHPID; read -r x; echo "$BASHPID $x"' });
  expect(first.state).toBe('waiting_input');
  await engine.killWorker();
  await engine.startWorker();
  const second = await session.input({ keyboard: 'still you?' });
  expect(second).toMatchObject({ state: 'exited', exitCode: 0 });
  expect(second.output).toContain(`${first.output.trim()} still you?`);
  const { events } = await engine.client.temporal.workflow.getHandle(session.workflowId).fetchHistory();
  const scheduled = events?.flatMap((event) => event.activityTaskScheduledEventAttributes ?? []) ?? [];
  const names = scheduled.map(({ activityType }) => activityType?.name);
  // Where the next worker needed longer than a heartbeat may take, it was handed over again.
  const isLate = events?.some((event) => event.activityTaskTimedOutEventAttributes);
  if (!isLate) expect(names).toEqual(['runCommand', 'sendInput']);
  expect(events?.some((event) => event.activityTaskFailedEventAttributes)).toBe(false);
}, 60_000);

test('a graceful stop of the worker detaches from its sessions and does not end them', async () => {
  const session = newSession();
  await session.exec({ code: 'echo begun; read -r x; echo "got $x"' });
  expect(await stopWorker(engine.dataDir)).toBe(true);
  await engine.startWorker();
  expect(await session.input({ keyboard: 'on' })).toMatchObject({ state: 'exited', output: 'on\ngot on\n' });
}, 60_000);

test('SIGKILL of a holder gives lost and an exact prefix, and the same command never runs again', async () => {
  const session = newSession();
  const code = 'echo ran >> holder-runs; for ((i = 1; ; i++)); do echo "line $i"; done';
  const running = session.exec({ code, id: 'lost-one' });
  await untilLogHas(session.ref.session, 50_000);
  const paths = sessionPaths(engine.dataDir, session.ref);
  process.kill(holderRecord(engine, session.ref).identity.pid, 'SIGKILL');
  const view = await running;
  expect(view).toMatchObject({ state: 'lost', exitCode: null, killedBy: { by: 'host_lost' } });
  expect(view.to).toBeGreaterThanOrEqual(50_000);
  const lines = readLog(paths.log, 0, view.to).toString('latin1').split('\r\n').slice(0, -1);
  expect(lines.findIndex((line, index) => line !== `line ${index + 1}`)).toBe(-1);
  expect(await session.exec({ code, id: 'lost-one' }, 'again')).toMatchObject({ state: 'lost' });
  expect(readFileSync(join(cwd, 'holder-runs'), 'utf8')).toBe('ran\n');
  expect(await session.exec({ code: 'echo new' })).toMatchObject({
    output: 'new\n',
    freshShell: true,
    epoch: 2,
  });
}, 60_000);

test('SIGKILL of the command line leaves its command running, and the same id finds its result', async () => {
  const n = sessions++;
  const command = 'echo ran >> cli-runs; until [ -e go-on ]; do sleep 0.05; done; echo finished; (exit 9)';
  const args = [
    'exec',
    '--agent',
    'kills',
    '--session',
    String(n),
    '--id',
    'from-cli',
    '--cwd',
    cwd,
    '--json',
    command,
  ];
  const first = engine.spawnCli(args);
  while (!existsSync(join(cwd, 'cli-runs'))) await new Promise((resolve) => setTimeout(resolve, 20));
  first.kill('SIGKILL');
  const second = engine.cli(args);
  await engine.cli([
    'exec',
    '--agent',
    'kills',
    '--session',
    String(sessions++),
    '--cwd',
    cwd,
    'touch go-on',
  ]);
  const { code, stdout } = await second;
  expect(code).toBe(9);
  expect(JSON.parse(stdout)).toMatchObject({ output: 'finished\n', exitCode: 9 });
  expect(readFileSync(join(cwd, 'cli-runs'), 'utf8')).toBe('ran\n');
}, 60_000);

test('a watching command line restarts a killed server and a killed worker, and ends as if nothing had happened', async () => {
  const n = String(sessions++);
  const code = 'touch watched; until [ -e watched-on ]; do sleep 0.05; done; echo finished; (exit 6)';
  const watching = engine.cli(['exec', '--agent', 'kills', '--session', n, '--cwd', cwd, code]);
  while (!existsSync(join(cwd, 'watched'))) await new Promise((resolve) => setTimeout(resolve, 20));
  const [server, worker] = [engine.server().identity.pid, runningWorker(engine.dataDir)?.identity.pid];
  await Promise.all([engine.killServer(), engine.killWorker()]);
  while ((runningWorker(engine.dataDir)?.identity.pid ?? worker) === worker) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  writeFileSync(join(cwd, 'watched-on'), '');
  const watched = await watching;
  if (watched.code !== 6) throw new Error(watched.stderr);
  expect(watched.stdout).toBe('finished\n');
  expect(engine.server().identity.pid).not.toBe(server);
}, 60_000);

test('an agent whose worker is killed in the middle of its steps answers all the same, each command run once', async () => {
  const step = (n: number): { text: string } => ({
    text: call('code_execution_tool', { runtime: 'terminal', code: `echo ${n} >> agent-runs; sleep 0.3` }),
  });
  const agent = engine.client.agent('killed-agent');
  const replies = [...Array.from({ length: 8 }, (_, n) => step(n)), { text: 'all done' }];
  await agent.start({ task: 'x', model: files.model(replies), cwd, yield: QUICK_YIELD });
  for (const steps of isLongRun ? ['1', '4'] : ['4']) {
    while (
      !existsSync(join(cwd, 'agent-runs')) ||
      !readFileSync(join(cwd, 'agent-runs'), 'utf8').includes(steps)
    ) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await engine.killWorker();
    await engine.startWorker();
  }
  expect(await agent.result()).toMatchObject({ answer: 'all done', steps: 9 });
  expect(readFileSync(join(cwd, 'agent-runs'), 'utf8')).toBe('0\n1\n2\n3\n4\n5\n6\n7\n');
}, 90_000);

test('a wait for two sessions outlives SIGKILL of the worker, and is answered once by the next', async () => {
  const [one, two] = [newSession(), newSession()];
  const code = (name: string): string => `until [ -e ${name} ]; do sleep 0.01; done; (exit 9)`;
  const quickly = { firstOutputMs: 1 };
  await one.exec({ code: code('first'), yield: quickly });
  await two.exec({ code: code('second'), yield: quickly });
  const waiting = one.wait({ sessions: [one.ref.session, two.ref.session], waitMs: 60_000 });
  await untilDelivered(one.workflowId, 'waitForSessions');
  await engine.killWorker();
  await engine.startWorker();
  writeFileSync(join(cwd, 'first'), '');
  writeFileSync(join(cwd, 'second'), '');
  expect(await waiting).toMatchObject({
    met: true,
    sessions: [{ view: { exitCode: 9 } }, { view: { exitCode: 9 } }],
  });
});

test('a wait that SIGKILL of the worker cuts off lasts as long as was asked in all, not as long again', async () => {
  const session = newSession();
  await session.exec({ code: 'sleep 1000', yield: { firstOutputMs: 1 } });
  const waitMs = 20_000;
  const began = performance.now();
  const waiting = session.wait({ sessions: [session.ref.session], waitMs });
  await untilDelivered(session.workflowId, 'waitForSessions');
  // Most of it has passed before the kill.
  await until(() => performance.now() - began > 12_000, 15_000);
  await engine.killWorker();
  await engine.startWorker();
  const backMs = performance.now() - began;
  const { met } = await waiting;
  const tookMs = performance.now() - began;
  expect(met).toBe(false);
  expect(tookMs).toBeGreaterThan(waitMs - 1_000);
  expect(tookMs).toBeLessThan(Math.max(waitMs, backMs) + 9_000);
  await session.close('test ended');
}, 90_000);

test('SIGKILL of the server just after it has acknowledged inputs loses none: each is typed once, in their order', async () => {
  const session = newSession();
  const inputs = Array.from({ length: 50 }, (_, n) => `line ${n}`);
  const code = 'for ((i = 0; i < 50; i++)); do IFS= read -r x; echo "$x" >> acknowledged; done; (exit 5)';
  const running = session.exec({ code, id: 'reads' });
  await until(async () => (await session.state()).view?.state === 'waiting_input');
  for (const keyboard of inputs) await session.signalInput({ id: keyboard.replace(' ', '-'), keyboard });
  await engine.killServer();
  await engine.start();
  await running;
  await until(async () => (await session.state()).view?.state === 'exited', 30_000);
  expect((await session.state()).view).toMatchObject({ exitCode: 5 });
  expect(readFileSync(join(cwd, 'acknowledged'), 'utf8').trim().split('\n')).toEqual(inputs);
}, 90_000);

test('SIGKILL of the worker while a parent waits for sub-agents at work: each is started once, and the wait ends with all', async () => {
  const id = 'killed-parent';
  const child = (n: number): string =>
    call('spawn_agent', {
      role: `child ${n}`,
      prompt: 'x',
      model: files.model([
        {
          text: call('code_execution_tool', {
            runtime: 'terminal',
            code: `echo ${n} >> children; while ! [ -e children-go ]; do sleep 0.05; done; echo gone`,
          }),
        },
        { expect: 'gone', text: `answer ${n}` },
      ]),
    });
  const ids = [1, 2, 3].map((n) => `${id}-child-${n}-${n}`);
  const agent = engine.client.agent(id);
  await agent.start({
    task: 'x',
    model: files.model([
      ...[1, 2, 3].map((n) => ({ text: child(n) })),
      { text: call('wait_for_agents', { agent_ids: ids }) },
      { expect: 'answer 1.*answer 2.*answer 3', text: 'all of them' },
    ]),
    cwd,
    yield: { ...QUICK_YIELD, firstOutputMs: 600_000, maxMs: 600_000 },
  });
  const ran = (): string[] =>
    existsSync(join(cwd, 'children'))
      ? readFileSync(join(cwd, 'children'), 'utf8').trim().split('\n').sort()
      : [];
  for (const seen of isLongRun ? [1, 3] : [3]) {
    while (ran().length < seen) await new Promise((resolve) => setTimeout(resolve, 10));
    await engine.killWorker();
    await engine.startWorker();
  }
  writeFileSync(join(cwd, 'children-go'), '');
  expect(await agent.result()).toMatchObject({ answer: 'all of them', steps: 5 });
  expect(ran()).toEqual(['1', '2', '3']);
  expect((await agent.state()).agents.map(({ agentId }) => agentId)).toEqual(ids);
}, 90_000);

test('a command for a host that no worker serves ends as host_offline, whatever is killed meanwhile', async () => {
  await expect(onNoHost).rejects.toMatchObject({ code: 'host_offline', retryable: true });
}, 60_000);

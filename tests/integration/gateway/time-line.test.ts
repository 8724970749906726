// The time line of an agent: what its histories say happened, on a worker that is killed and programs that wait.
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { HoldfastClient } from '../../../client/holdfast-client';
import type { TimeLine, TimeLineEntry } from '../../../contracts/gateway/time-line';
import { encryptedPayloads } from '../../../encryption/data-converter';
import { runningWorker } from '../../../workers/process/worker-record';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { lengthenHistory } from '../../helpers/engines/long-history';
import { longTest } from '../../helpers/run/long-run';
import { RemoteHost } from '../../helpers/hosts/remote-host';
import { call, QUICK_YIELD, scratch, uniqueId, type Reply } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';
import { holderRecord } from '../../helpers/terminals/holder-record';

jest.setTimeout(180_000);

/** Temporal's PendingActivityState (temporal/api/enums/v1/workflow.proto). */
const STARTED = 2;
/** Of a model call. */
const HEARTBEAT_MS = 10_000;

const engine = new EngineOfItsOwn();
const files = scratch();
beforeAll(async () => {
  engine.configure('[policy.agents]\n"held" = "ask"\n');
  await engine.start();
}, 60_000);
afterAll(async () => {
  files.remove();
  expect(await engine.end()).toEqual([]);
}, 60_000);

const terminal = (code: string, session = 0): Reply => ({
  text: call('code_execution_tool', { runtime: 'terminal', code, session }),
});
const input = (keyboard: string): Reply => ({ text: call('input', { keyboard, session: 0 }) });

async function start(replies: Reply[], id = uniqueId('line')): Promise<string> {
  await engine.client
    .agent(id)
    .start({ task: 'first', mode: 'conversation', ...files.settings(replies), yield: QUICK_YIELD });
  return id;
}

/** An agent whose model takes longer than any test, until `answer` is called: then its next call is answered at once. */
async function startSlow(more: Reply[] = []): Promise<{ id: string; answer: () => void }> {
  const id = uniqueId('line');
  const model = files.model([{ text: 'late', delayMs: 600_000 }, ...more]);
  await engine.client.agent(id).start({ task: 'first', mode: 'conversation', ...files.settings([]), model });
  const file = model.slice('scripted:'.length);
  return { id, answer: () => writeFileSync(file, stringify([{ text: 'late' }, ...more])) };
}

/** Of its first turn, once it alone is pending: no checkpoint beside it is lost with the worker. */
async function modelCallOf(id: string) {
  const turn = engine.client.temporal.workflow.getHandle(`agent/${id}/turn/1`);
  const { pendingActivities } = (await turn.describe().catch(() => undefined))?.raw ?? {};
  const [call, ...others] = pendingActivities ?? [];
  return call?.activityType?.name === 'callModel' && others.length === 0 ? call : undefined;
}

const isAtWork = (activity: Awaited<ReturnType<typeof modelCallOf>>): boolean =>
  Number(activity?.state) === STARTED;

const isIdle = (id: string) => async (): Promise<boolean> =>
  (await engine.client.agent(id).ownState()).status === 'idle';
const of = (line: TimeLine, kind: TimeLineEntry['kind']): TimeLineEntry[] =>
  line.items.filter((told) => told.kind === kind);

test('a turn, its model calls and its command are told once each, with their places in the conversation', async () => {
  const id = await start([{ text: 'hello' }, terminal('echo one; (exit 3)'), { text: 'done' }]);
  await until(isIdle(id));
  await engine.client.agent(id).send('second');
  const line = await engine.client.timeLine(id);
  const { messages } = await engine.client.agent(id).transcript();
  expect(line.truncated).toBe(false);
  expect(of(line, 'turn')).toMatchObject([
    { turn: 1, message: 0, text: 'Turn 1: first', outcome: 'answered' },
    { turn: 2, message: 2, text: 'Turn 2: second', outcome: 'answered' },
  ]);
  expect(of(line, 'model').map(({ turn, message }) => [turn, message])).toEqual([
    [1, 1],
    [2, 4],
    [2, 7],
  ]);
  for (const { message } of of(line, 'model')) expect(messages[message ?? 0]?.role).toBe('assistant');
  expect(of(line, 'command')).toMatchObject([
    {
      text: 'terminal: echo one; (exit 3)',
      outcome: 'exit code 3',
      ...{ turn: 2, message: 4, host: 'local', session: 0 },
    },
  ]);
  // The command says more than the call that ran it, and it is the same.
  expect(of(line, 'tool')).toEqual([]);
  const times = line.items.map(({ at }) => Date.parse(at));
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  for (const { durationMs } of line.items) expect(durationMs).toBeGreaterThanOrEqual(0);
});

test('a program that waits for input is a wait from its prompt to the answer, and again until the command ends', async () => {
  const id = await start([
    terminal("read -p 'Name? ' a; read -p 'Age? ' b; echo \"$a $b\""),
    input('Ada'),
    { text: 'it still waits' },
  ]);
  await until(isIdle(id));
  const session = engine.client.session({ agent: id, session: 0 });
  const open = await engine.client.timeLine(id);
  // The second one is open.
  expect(of(open, 'wait')).toMatchObject([
    { text: 'Wait for input', turn: 1, message: 2 },
    { text: 'Wait for input', durationMs: null },
  ]);
  const [first, second] = of(open, 'wait');
  const end = Date.parse(first?.at ?? '') + (first?.durationMs ?? NaN);
  expect(end).toBeLessThanOrEqual(Date.parse(second?.at ?? ''));
  expect(of(open, 'command')).toMatchObject([{ durationMs: null, outcome: null }]);
  await session.input({ keyboard: '36' });
  await until(async () => (await session.output({})).state === 'exited');
  const told = async (): Promise<TimeLineEntry[]> => of(await engine.client.timeLine(id), 'wait');
  await until(async () => (await told()).every(({ durationMs }) => durationMs !== null));
  expect(await told()).toHaveLength(2);
});

test('a wait for an approval lasts from the question to the answer, and shows what was asked', async () => {
  const session = engine.client.session({ agent: 'held', session: 0 });
  await engine.client.agent('held').start({ mode: 'conversation', ...files.settings([]) });
  const running = session.exec({ code: 'echo approved' });
  const waits = async (): Promise<TimeLineEntry[]> => of(await engine.client.timeLine('held'), 'wait');
  await until(async () => (await waits()).length === 1);
  expect(await waits()).toMatchObject([
    { text: 'Wait for approval: terminal: echo approved', durationMs: null },
  ]);
  const [asked] = await engine.client.approvals.list('held');
  if (!asked) throw new Error('nothing waits');
  await engine.client.approvals.approve(asked.workflowId, { hash: asked.hash });
  await running;
  await until(async () => (await waits())[0]?.durationMs !== null);
  const line = await engine.client.timeLine('held');
  expect(of(line, 'command').map(({ outcome }) => outcome)).toEqual(['exit code 0']);
});

test('a worker killed in a model call and in a command is told, and what another worker took over', async () => {
  const id = await start([
    terminal('echo begun; while [ ! -e go ]; do sleep 0.05; done; echo over'),
    { text: 'x' },
  ]);
  const session = engine.client.session({ agent: id, session: 0 });
  await until(async () => (await session.state().catch(() => null))?.view?.output.includes('begun') ?? false);
  await engine.killWorker();
  await engine.startWorker();
  await engine.client.session({ agent: `${id}-b`, session: 0 }).exec({ code: `touch ${files.directory}/go` });
  await until(isIdle(id));
  const calm = async (): Promise<boolean> =>
    of(await engine.client.timeLine(id), 'command').every(({ durationMs }) => durationMs !== null);
  await until(calm);
  const line = await engine.client.timeLine(id);
  expect(of(line, 'taken_over')).toMatchObject([{ turn: 1, message: 2, host: 'local', session: 0 }]);
  // Whether an attempt was lost, too, depends on what the worker was doing: a checkpoint, perhaps, or nothing.
  const goesOn = expect.stringMatching(/^A worker was killed, and another one goes on/) as string;
  for (const kill of of(line, 'kill')) expect(kill).toMatchObject({ text: goesOn, turn: 1 });
  expect(of(line, 'command')).toMatchObject([{ outcome: 'exit code 0' }]);

  const { id: slow, answer } = await startSlow();
  await until(async () => isAtWork(await modelCallOf(slow)));
  await engine.killWorker();
  answer();
  await engine.startWorker();
  await until(isIdle(slow));
  const killed = await engine.client.timeLine(slow);
  const lost = [...of(killed, 'kill'), ...of(killed, 'silent')];
  // A worker that needs longer to start may come too late to say so: the server has given the call up.
  const isLate = (lost[0]?.durationMs ?? 0) >= HEARTBEAT_MS;
  const fate = isLate ? '(was killed|fell silent)' : 'was killed';
  const text = expect.stringMatching(`^A worker ${fate}, and another one goes on \\(attempt 2\\)$`) as string;
  expect(lost).toMatchObject([{ text, message: 1 }]);
  expect(of(killed, 'model')).toHaveLength(1);
});

test('a worker that falls silent is told, in a model call and with a task of the agent itself', async () => {
  const { id, answer } = await startSlow([{ text: 'second' }]);
  const agent = engine.client.temporal.workflow.getHandle(`agent/${id}`);
  await until(async () => isAtWork(await modelCallOf(id)));
  const { pid } = runningWorker(engine.dataDir)?.identity ?? { pid: 0 };
  process.kill(pid, 'SIGSTOP');
  try {
    await agent.signal('send', { message: 'second' });
    const isUnanswered = async (): Promise<boolean> =>
      ((await agent.fetchHistory()).events ?? []).some(
        ({ workflowTaskTimedOutEventAttributes: task }) => Number(task?.startedEventId ?? 0) > 0,
      );
    await until(isUnanswered, 60_000);
    await until(async () => ((await modelCallOf(id))?.attempt ?? 1) > 1, 60_000);
  } finally {
    answer();
    process.kill(pid, 'SIGCONT');
  }
  const line = (): Promise<TimeLine> => engine.client.timeLine(id);
  await until(
    async () => of(await line(), 'turn').filter(({ outcome }) => outcome !== null).length === 2,
    60_000,
  );
  const silent = of(await line(), 'silent');
  expect(silent).toContainEqual(
    expect.objectContaining({
      ...{ workflowId: agent.workflowId, turn: null },
      text: 'A worker took a task and gave no answer',
    }),
  );
  const goesOn = expect.stringMatching(
    /^A worker fell silent, and another one goes on \(attempt \d\)$/,
  ) as string;
  const fell = silent.filter(
    ({ workflowId, text }) => workflowId === `agent/${id}/turn/1` && /fell/.test(text),
  );
  expect(fell).toEqual([expect.objectContaining({ turn: 1, message: 1, text: goesOn })]);
  // From the first sign of its work to the next worker's, or to when it was given up: as long as the silence.
  for (const { durationMs } of silent) expect(durationMs).toBeGreaterThan(1_000);
  expect(of(await line(), 'kill')).toEqual([]);
});

test('a command whose shell was lost says so, and one on another host is told with its host', async () => {
  const id = await start([terminal('read x'), { text: 'it waits' }]);
  await until(isIdle(id));
  const far = new RemoteHost('far', engine.server().address);
  try {
    await far.serve();
    const there = engine.client.session({ agent: id, host: 'far', session: 3 });
    await there.exec({ code: 'echo far' });
    killHolder(id);
    await until(
      async () => (await engine.client.session({ agent: id, session: 0 }).output({})).state === 'lost',
    );
    const commands = async (): Promise<TimeLineEntry[]> => of(await engine.client.timeLine(id), 'command');
    await until(async () => (await commands()).filter(({ durationMs }) => durationMs !== null).length === 2);
    expect(await commands()).toMatchObject([
      { host: 'local', session: 0, outcome: 'lost: its shell is gone', turn: 1 },
      { host: 'far', session: 3, outcome: 'exit code 0', turn: null, message: null },
    ]);
  } finally {
    await far.end();
  }
});

/** The process that owns the terminal of the agent's session 0. */
function killHolder(agent: string): void {
  const { identity } = holderRecord(engine, { agent, host: 'local', session: 0 });
  process.kill(identity.pid, 'SIGKILL');
}

test('histories that are too long are cut at their oldest end, and the time line says so', async () => {
  const id = await start([{ text: 'one' }, { text: 'two' }, { text: 'three' }]);
  await until(isIdle(id));
  await engine.client.agent(id).send('second');
  await engine.client.agent(id).send('third');
  await until(isIdle(id));
  const whole = await engine.client.timeLine(id);
  const { events = [] } = await engine.client.temporal.workflow.getHandle(`agent/${id}`).fetchHistory();
  // The agent's own, which may be a few more by now, its newest turn, and little of the one before.
  const cut = await engine.client.timeLine(id, { maxEvents: (events?.length ?? 0) + 15 });
  expect(whole.truncated).toBe(false);
  expect(of(whole, 'model').map(({ turn }) => turn)).toEqual([1, 2, 3]);
  expect(cut.truncated).toBe(true);
  expect(of(cut, 'turn')).toHaveLength(3);
  expect(of(cut, 'model').map(({ turn }) => turn)).toContain(3);
  expect(of(cut, 'model').map(({ turn }) => turn)).not.toContain(1);
});

longTest(
  'an agent that continued as new keeps its time line, and only what it still has has a place',
  async () => {
    const id = await start([{ text: 'one' }, { text: 'two' }, { text: 'three' }]);
    await until(isIdle(id));
    const handle = engine.client.temporal.workflow.getHandle(`agent/${id}`);
    const { runId } = await handle.describe();
    await lengthenHistory(engine.client, id);
    // A caller that waits is answered first.
    await engine.client.agent(id).send('second');
    await engine.client.agent(id).send('third');
    expect((await handle.describe()).runId).not.toBe(runId);
    const line = await engine.client.timeLine(id);
    expect(of(line, 'turn')).toMatchObject([
      { turn: 1, message: null },
      { turn: 2, message: null },
      { turn: 3, message: 4 },
    ]);
    expect(of(line, 'model').map(({ turn, message }) => [turn, message])).toEqual([
      [1, null],
      [2, null],
      [3, 5],
    ]);
  },
  240_000,
);

test('what is encrypted is read with the keys of the client', async () => {
  const sealed = new EngineOfItsOwn();
  const key = { id: 'k', file: join(sealed.dataDir, 'k.key') };
  writeFileSync(key.file, randomBytes(32).toString('base64'), { mode: 0o600 });
  const toml = '[encryption]\nkeys = [{ id = "k", file = "k.key" }]\nrequired = true\n';
  sealed.configure(toml);
  await sealed.start();
  const { address } = sealed.server();
  const { namespace } = sealed;
  const dataConverter = encryptedPayloads({ keys: [key], required: true });
  const client = await HoldfastClient.connect({ address, namespace, dataConverter }, {});
  try {
    const id = uniqueId('sealed');
    const settings = files.settings([terminal('echo secret-word'), { text: 'done' }]);
    await client.agent(id).start({ task: 'first secret-word', ...settings });
    await client.agent(id).result();
    const line = await client.timeLine(id);
    expect(of(line, 'turn')).toMatchObject([{ text: 'Turn 1: first secret-word', message: 0 }]);
    expect(of(line, 'model').map(({ message }) => message)).toEqual([2, 5]);
    expect(of(line, 'command')).toMatchObject([
      { text: 'terminal: echo secret-word', outcome: 'exit code 0', message: 2 },
    ]);
  } finally {
    await client.close();
    expect(await sealed.end()).toEqual([]);
  }
});

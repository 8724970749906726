// What could wedge a session or lose a message of it, on a host whose activities answer when the test says so.
import { activityInfo } from '@temporalio/activity';
import { NativeConnection, Worker } from '@temporalio/worker';
import type { WorkflowHandle } from '@temporalio/client';
import type { HoldfastClient } from '../../../client/holdfast-client';
import type { SessionState } from '../../../contracts/sessions/session';
import { quietenRuntime } from '../../../testing/quiet-runtime';
import { count } from '../../helpers/run/long-run';
import { testAddress, testClient, uniqueId } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const MADE_LATE_MS = 90_000;
const host = uniqueId('held');
const taskQueue = `host.${host}`;
/** The activities that have begun and wait for the test. */
const held = new Set<string>();
/** Those that the test has answered: it heartbeats none, so that the server may begin a slow one again. */
const answered = new Set<string>();
const waiting: { name: string; answer: () => void }[] = [];
/** The runs of sessions in which each activity has begun, answered or not. */
const runsOf = new Map<string, Set<string>>();
const closed: string[] = [];
const view = { session: 0, commandId: null, state: 'exited', output: '', from: 0, to: 0, epoch: 1 };
const answersLater = (name: string) => (): Promise<object> =>
  new Promise((resolve) => {
    runsOf.set(name, (runsOf.get(name) ?? new Set()).add(activityInfo().workflowExecution?.runId ?? ''));
    const answer = (): void => resolve({ ...view, survivors: [] });
    held.add(name);
    if (answered.has(name)) answer();
    else waiting.push({ name, answer });
  });

function answerAll(name: string): void {
  answered.add(name);
  for (const one of waiting) if (one.name === name) one.answer();
}

let client: HoldfastClient;
let connection: NativeConnection;
let worker: Worker;
let running: Promise<void>;
beforeAll(async () => {
  quietenRuntime();
  client = await testClient();
  connection = await NativeConnection.connect({ address: testAddress() });
  const activities = {
    readOutput: answersLater('readOutput'),
    resetSession: answersLater('resetSession'),
    // They never end, and are not cancelled.
    runCommand: answersLater('runCommand'),
    sendInput: answersLater('sendInput'),
    sendInputs: answersLater('sendInputs'),
    closeSession: ({ ref }: { ref: { agent: string } }) => void closed.push(ref.agent),
  };
  worker = await Worker.create({ connection, taskQueue, activities });
  running = worker.run();
}, 60_000);
afterAll(async () => {
  for (const { answer } of waiting) answer();
  worker.shutdown();
  await running;
  await connection.close();
  await client.close();
});
beforeEach(() => {
  held.clear();
  answered.clear();
});

/** A session that has taken this signal. */
function signalled(agent: string, signal: string): Promise<WorkflowHandle> {
  return client.temporal.workflow.signalWithStart('execSession', {
    ...{ workflowId: `exec/${agent}/${host}/0`, taskQueue: client.server.queue, args: [{}] as [object] },
    ...{ signal, signalArgs: [{}] as [object] },
  });
}

/** Such that it continues as new. */
async function makeLong(session: WorkflowHandle): Promise<void> {
  // A script's call, so that waits of callers do not hold back continue-as-new.
  await session.signal('cancelTools', { ids: ['a-call'], reason: 'it ended' });
  for (let sent = 0; sent < count(500, 2_100); sent += 100)
    await Promise.all(Array.from({ length: 100 }, () => session.signal('input', { nonsense: 1 })));
}

const stateOf = (session: WorkflowHandle): Promise<SessionState> => session.query('state');

test.each([
  ['poll', 'readOutput'],
  ['reset', 'resetSession'],
])(
  'a session that is cancelled while a signalled %s is carried out closes its shell first',
  async (signal, activity) => {
    const agent = uniqueId('cancelled');
    const session = await signalled(agent, signal);
    await until(() => held.has(activity));
    await session.cancel();
    await expect(session.result()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
    expect(closed).toContain(agent);
  },
);

test('a session does not continue as new before a signalled reset is done, however long that takes', async () => {
  const session = await signalled(uniqueId('resets'), 'reset');
  const { runId } = await session.describe();
  await until(() => held.has('resetSession'));
  // It drains once, for seconds.
  const isDraining = async (): Promise<boolean> => (await stateOf(session)).status === 'draining';
  await Promise.all([makeLong(session), until(isDraining, MADE_LATE_MS)]);
  await until(async () => (await stateOf(session)).status !== 'draining', MADE_LATE_MS);
  expect((await session.describe()).runId).toBe(runId);
  answerAll('resetSession');
  await until(async () => (await session.describe()).runId !== runId, MADE_LATE_MS);
  // The next run knows the view that the reset gave.
  expect(await stateOf(session)).toMatchObject({ view: { state: 'exited' } });
  await session.terminate();
}, 180_000);

test('an input that the host has not answered when its session continues as new is sent to the host by the next run', async () => {
  const session = client.session({ agent: uniqueId('cut-off'), session: 0, host });
  session.exec({ code: 'cat', yield: { firstOutputMs: 600_000 } }).catch(() => undefined);
  await until(() => held.has('runCommand'));
  const handle = client.temporal.workflow.getHandle(session.workflowId);
  const { runId } = await handle.describe();
  // The client sends it again under its id when it is cut off.
  const typed = session.input({ keyboard: 'yes', id: 'y' });
  await until(() => held.has('sendInput'));
  expect(runsOf.get('sendInput')).toEqual(new Set([runId]));
  await makeLong(handle);
  await until(async () => (await handle.describe()).runId !== runId, MADE_LATE_MS);
  answerAll('readOutput');
  answerAll('sendInput');
  expect(await typed).toMatchObject({ state: 'exited' });
  const next = (await handle.describe()).runId;
  expect(runsOf.get('sendInput')).toEqual(new Set([runId, next]));
  await handle.terminate();
}, 180_000);

test('a command that outlives a small idle limit costs its session no timer for each moment', async () => {
  const settings = { idleMs: 50, yield: { firstOutputMs: 60_000 } };
  const session = client.session({ agent: uniqueId('outlives'), session: 0, host }, settings);
  session.exec({ code: 'sleep 3600' }).catch(() => undefined);
  await until(() => held.has('runCommand'));
  const handle = client.temporal.workflow.getHandle(session.workflowId);
  const timers = async (): Promise<number[]> => {
    const { events = [] } = await handle.fetchHistory();
    return (events ?? []).flatMap(({ timerStartedEventAttributes: timer }) =>
      timer ? [Number(timer.startToFireTimeout?.seconds ?? 0)] : [],
    );
  };
  // The first ones are the rest of the limit.
  await until(async () => (await timers()).some((seconds) => seconds > 0));
  expect((await timers()).at(-1)).toBeGreaterThanOrEqual(30);
  await handle.terminate();
}, 120_000);

test('inputs that are waiting take no more than the next run can be given, whatever characters they hold', async () => {
  const session = client.session({ agent: uniqueId('types'), session: 0, host });
  session.exec({ code: 'cat', yield: { firstOutputMs: 60_000 } }).catch(() => undefined);
  await until(() => held.has('runCommand'));
  const handle = client.temporal.workflow.getHandle(session.workflowId);
  // As JSON, each takes six times as much.
  const keyboard = '\u0001'.repeat(100_000);
  for (const id of ['a', 'b', 'c']) await handle.signal('input', { keyboard, id });
  const { refused } = await stateOf(handle);
  const isFull = expect.stringContaining('Too much input is waiting') as string;
  expect(refused).toEqual([isFull, isFull]);
  await handle.terminate();
});

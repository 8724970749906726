// Waiting for one or several sessions without polling them.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HoldfastClient } from '../../../client/holdfast-client';
import type { SessionHandle } from '../../../client/session-handle';
import type { Message } from '../../../contracts/agents/agent';
import type { Wait } from '../../../contracts/sessions/session';
import {
  call,
  QUICK_YIELD,
  scratch,
  testClient,
  uniqueId,
  type Scratch,
} from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

let client: HoldfastClient;
let files: Scratch;
let agent: string;
beforeAll(async () => {
  client = await testClient();
  files = scratch();
});
afterAll(async () => {
  await client.close();
  files.remove();
});
beforeEach(() => {
  agent = uniqueId('waiter');
});

const opened: SessionHandle[] = [];
afterEach(async () => {
  for (const session of opened.splice(0)) {
    await session.close('test ended');
    await session.closed();
  }
});

/** A session in which `code` runs in the background of the caller. */
async function running(session: number, code: string): Promise<SessionHandle> {
  const handle = client.session({ agent, session }, { cwd: files.directory });
  await handle.exec({ code, yield: { firstOutputMs: 1, betweenOutputMs: 1, maxMs: 1 } });
  opened.push(handle);
  return handle;
}

const untilFile = (name: string): string => `until [ -e ${agent}-${name} ]; do sleep 0.01; done`;
const touch = (name: string): void => writeFileSync(join(files.directory, `${agent}-${name}`), '');
/** Code that prints `text` and goes on until it is ended, and whether it has printed. */
const printing = (text: string): string => `echo ${text}; touch ${agent}-${text}; sleep 1000`;
const untilPrinted = (text: string): Promise<void> =>
  until(() => existsSync(join(files.directory, `${agent}-${text}`)));

test('a wait for any of several sessions is over when the first of them is, and leaves the others alone', async () => {
  const first = await running(1, printing('one'));
  await running(2, `${untilFile('go')}; (exit 5)`);
  const waiting = first.wait({ sessions: [1, 2], mode: 'any', waitMs: 30_000 });
  await untilPrinted('one');
  touch('go');
  expect(await waiting).toMatchObject({
    met: true,
    sessions: [
      { reason: 'timeout', view: { session: 1, state: 'running', output: 'one\n' } },
      { reason: 'exit', view: { session: 2, state: 'exited', exitCode: 5 } },
    ],
  });
});

test('a wait for all of several sessions is over when the last of them is, and adds one activity to one history', async () => {
  const first = await running(1, `${untilFile('one')}; (exit 3)`);
  const second = await running(2, `${untilFile('two')}; (exit 4)`);
  const before = (await second.state()).readers;
  const waiting = first.wait({ sessions: [1, 2], waitMs: 30_000 });
  touch('one');
  await first.output({ wait: 'exit' });
  touch('two');
  expect(await waiting).toMatchObject({
    met: true,
    sessions: [
      { reason: 'exit', view: { exitCode: 3 } },
      { reason: 'exit', view: { exitCode: 4 } },
    ],
  });
  expect((await second.state()).readers).toEqual(before);
  const waits = async ({ workflowId }: SessionHandle): Promise<number> => {
    const { events } = await client.temporal.workflow.getHandle(workflowId).fetchHistory();
    const scheduled = (events ?? []).map((e) => e.activityTaskScheduledEventAttributes?.activityType?.name);
    return scheduled.filter((name) => name === 'waitForSessions').length;
  };
  expect([await waits(first), await waits(second)]).toEqual([1, 0]);
});

test('a session closes at once although a caller waits through it for another, and the caller is told so', async () => {
  const first = await running(1, 'true');
  await running(2, 'sleep 1000');
  const told = expect(first.wait({ sessions: [2], waitMs: 600_000 })).rejects.toMatchObject({
    code: 'wait_ended',
  });
  const waits = async (): Promise<boolean> =>
    (await client.temporal.workflow.getHandle(first.workflowId).describe()).raw.pendingActivities?.length ===
    1;
  await until(waits);
  const run = client.temporal.workflow.getHandle(first.workflowId);
  await run.signal('close', { reason: 'enough' });
  await Promise.all([run.result(), told]);
  opened.shift();
});

test.each<[Wait, string, string]>([
  ['exit', 'exit', 'true'],
  // Again and again: what was written before the wait began does not count.
  ['output', 'output', 'while sleep 0.2; do echo more; done'],
  ['idle', 'idle', 'echo quiet; sleep 1000'],
  ['needs_input', 'needs_input', 'sleep 0.2; read -r answer'],
  ['pattern:epoch [3]', 'pattern', 'for i in 1 2 3 4; do echo "epoch $i"; sleep 0.05; done; sleep 1000'],
])('a wait for %s reports that it ended as %s', async (wait, reason, code) => {
  const session = await running(1, code);
  expect(await session.wait({ for: wait, waitMs: 30_000 })).toMatchObject({
    met: true,
    sessions: [{ reason }],
  });
});

test('the condition and the end of the process are told apart', async () => {
  const session = await running(1, 'sleep 0.3');
  const { met, sessions } = await session.wait({ for: 'needs_input', waitMs: 30_000 });
  expect([met, sessions[0]?.reason]).toEqual([true, 'exit']);
});

test('a timeout reports the state, and programs keep running', async () => {
  const session = await running(1, printing('begun'));
  await untilPrinted('begun');
  expect(await session.wait({ waitMs: 50 })).toMatchObject({
    met: false,
    sessions: [{ reason: 'timeout', view: { state: 'running', output: 'begun\n' } }],
  });
});

test.each([
  ['a session that was never opened', { sessions: [1, 9] }, 'not_found'],
  ['no session', { sessions: [] }, 'invalid_input'],
  ['a pattern that is no regular expression', { for: 'pattern:(' as Wait }, 'invalid_input'],
])('%s is refused', async (_, request, code) => {
  const session = await running(1, 'sleep 1000');
  await expect(session.wait(request)).rejects.toMatchObject({ code });
});

test('a model waits for two sessions with one call, and is told what it has not seen yet', async () => {
  const { directory } = files;
  const start = (session: number, code: string): { text: string } => ({
    text: call('code_execution_tool', { runtime: 'terminal', session, code }),
  });
  const model = files.model([
    start(1, 'echo "started one"; sleep 3; echo "finished one"; (exit 6)'),
    start(2, 'echo "started two"; sleep 3; echo "finished two"'),
    { text: call('wait', { sessions: [1, 2], for: 'exit', timeout_ms: 20_000 }) },
    { text: 'both are done' },
  ]);
  const yielding = { ...QUICK_YIELD, firstOutputMs: 200, betweenOutputMs: 200 };
  await client.agent(agent).start({ task: 'x', model, cwd: directory, yield: yielding });
  await client.agent(agent).result();
  const { messages } = await client.agent(agent).transcript();
  const results = messages.filter((m): m is Extract<Message, { role: 'tool' }> => m.role === 'tool');
  expect(results.at(-1)).toMatchObject({ tool: 'wait', isError: false });
  expect(results.at(-1)?.content).toMatch(/session 1: ended\n[^]*finished one\n\[exit code 6/);
  expect(results.at(-1)?.content).toMatch(/session 2: ended\n[^]*finished two\n\[exit code 0/);
});

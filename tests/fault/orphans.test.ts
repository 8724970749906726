// D9, S17: shells that nobody will close, and agents that open too many.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HoldfastClient } from '../../client/holdfast-client';
import { LOCAL_HOST, agentWorkflowId } from '../../contracts/ids';
import { SessionHost } from '../../exec/session-host';
import { OrphanSweep, sessionOwner } from '../../workers/orphan-sweep';
import { testHost, type TestHost } from '../helpers/session-host';
import { call, QUICK_YIELD, scratch, testClient, uniqueId } from '../helpers/temporal';
import { until } from '../helpers/until';

let client: HoldfastClient;
let cwd: string;
beforeAll(async () => {
  client = await testClient();
  cwd = mkdtempSync(join(tmpdir(), 'holdfast-orphans-'));
});
afterAll(async () => {
  await client.close();
  rmSync(cwd, { recursive: true, force: true });
});

const SWEPT_MS = 60_000;
const runHost = (): SessionHost =>
  new SessionHost({
    dataDir: process.env.HOLDFAST_TEST_DATA ?? '',
    cwd: '/',
    env: {},
    treeKill: 'process-search',
  });

test('the tree of a terminated session, and the sessions of a terminated agent, are ended within a minute', async () => {
  const files = scratch();
  const host = runHost();
  const id = uniqueId('orphan');
  const session = client.session({ agent: id, session: 7 }, { cwd });
  await session.exec({ code: 'sleep 1000 & disown; sleep 1000', yield: { firstOutputMs: 50 } });
  const worker = client.agent(`${id}-agent`);
  const sleeping = call('code_execution_tool', { runtime: 'terminal', session: 3, code: 'sleep 1000' });
  await worker.start({
    task: 'x',
    model: files.model([{ text: sleeping }, { text: sleeping }]),
    yield: QUICK_YIELD,
  });
  const shell = { agent: `${id}-agent`, host: LOCAL_HOST, session: 3 };
  await until(() => host.isOpen(shell));
  await client.temporal.workflow.getHandle(session.workflowId).terminate('gone wrong');
  await client.temporal.workflow.getHandle(agentWorkflowId(`${id}-agent`)).terminate('too dear');
  const began = Date.now();
  await until(() => !host.isOpen(session.ref) && !host.isOpen(shell), SWEPT_MS);
  expect(Date.now() - began).toBeLessThan(SWEPT_MS);
  const record = (await host.status(session.ref)).command;
  expect(record?.killedBy).toMatchObject({
    by: 'closed',
    reason: expect.stringContaining('gone wrong') as unknown,
  });
  const ofAgent = (await host.status(shell)).command;
  expect(ofAgent?.killedBy?.reason).toMatch(/its agent was terminated by .+: too dear/);
  host.detach();
  files.remove();
}, 90_000);

test('a session that was reset in the web UI runs no finished command again, and goes on', async () => {
  const session = client.session({ agent: uniqueId('wound-back'), session: 0 }, { cwd });
  await session.exec({ code: 'echo one >> runs' });
  await session.exec({ code: 'echo two >> runs; (exit 3)' });
  const { events } = await client.temporal.workflow.getHandle(session.workflowId).fetchHistory();
  const firstTask = events?.find((event) => event.workflowTaskCompletedEventAttributes);
  await client.temporal.workflowService.resetWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId: session.workflowId },
    reason: 'an operator winds it back',
    // Before any command.
    workflowTaskFinishEventId: firstTask?.eventId ?? null,
    requestId: uniqueId('reset'),
  });
  // Its messages are applied again, and each finds that its command has run.
  await until(async () => (await session.state()).view?.state === 'exited');
  await until(async () => (await session.state()).status === 'idle');
  const after = await session.exec({ code: 'echo three >> runs' });
  expect(after).toMatchObject({ state: 'exited', exitCode: 0 });
  expect(readFileSync(join(cwd, 'runs'), 'utf8')).toBe('one\ntwo\nthree\n');
  await session.close('test ended');
  await session.closed();
});

describe('a sweep', () => {
  let t: TestHost;
  beforeEach(() => (t = testHost()));
  afterEach(() => t.end());

  const sweepOf = (owner: string | undefined): OrphanSweep => {
    const sessions = new SessionHost({ ...t.host.options, owner });
    return new OrphanSweep({ client: client.temporal, sessions, host: 'local', log: () => undefined });
  };

  test('ends a session that has no workflow only at its second look', async () => {
    const owner = await sessionOwner(client.temporal);
    const host = new SessionHost({ ...t.host.options, owner });
    await host.run(t.ref, { id: 'one', runtime: 'terminal', code: 'sleep 1000' });
    const sweep = sweepOf(owner);
    expect(await sweep.look()).toEqual([]);
    expect(host.isOpen(t.ref)).toBe(true);
    expect(await sweep.look()).toEqual([t.ref]);
    expect(host.isOpen(t.ref)).toBe(false);
    host.detach();
  });

  test.each([
    ['another server has', 'another-cluster/default'],
    ['nobody named', undefined],
  ])('leaves a session alone whose workflow %s', async (_, owner) => {
    const host = new SessionHost({ ...t.host.options, owner });
    await host.run(t.ref, { id: 'one', runtime: 'terminal', code: 'sleep 1000' });
    const sweep = sweepOf(await sessionOwner(client.temporal));
    expect([await sweep.look(), await sweep.look()]).toEqual([[], []]);
    expect(host.isOpen(t.ref)).toBe(true);
    host.detach();
  });
});

describe('the limit of sessions', () => {
  let t: TestHost;
  beforeEach(() => (t = testHost()));
  afterEach(() => t.end());

  test('refuses one too many, names the idle ones, and leaves nothing behind; other agents are not touched', async () => {
    const host = new SessionHost({ ...t.host.options, maxSessionsPerAgent: 3 });
    const run = (session: number, code: string, agent = 'test'): Promise<unknown> =>
      host.run({ ...t.ref, agent, session }, { id: `c${session}`, runtime: 'terminal', code });
    await Promise.all([run(1, 'true'), run(2, 'sleep 1000'), run(3, 'true')]);
    for (const session of [1, 3])
      await host.observe({ ...t.ref, session }, { kind: 'exit', from: 0, timeoutMs: 5_000 });
    await expect(run(4, 'true')).rejects.toMatchObject({
      code: 'session_limit',
      facts: { agent: 'test', allowed: 3, closable: '1, 3' },
    });
    expect(host.isOpen({ ...t.ref, session: 4 })).toBe(false);
    await run(4, 'true', 'other');
    await host.close({ ...t.ref, session: 1 }, null);
    await run(4, 'true');
    host.detach();
  });

  test('holds for sessions that are opened at the same time', async () => {
    const host = new SessionHost({ ...t.host.options, maxSessionsPerAgent: 2 });
    const opened = await Promise.allSettled(
      [1, 2, 3, 4].map((session) =>
        host.run({ ...t.ref, session }, { id: 'one', runtime: 'terminal', code: 'true' }),
      ),
    );
    expect(opened.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected']);
    expect(host.list().filter((ref) => host.isOpen(ref))).toHaveLength(2);
    host.detach();
  });
});

// D9, S17: orphaned shells, and agents that open too many.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentHandle } from '../../client/agents/agent-handle';
import type { HoldfastClient } from '../../client/holdfast-client';
import { decodeArrayFromPayloads } from '@temporalio/common/lib/internal-non-workflow';
import { LOCAL_HOST, agentWorkflowId } from '../../contracts/ids';
import { AGENT_MESSAGES } from '../../contracts/messages/to-agents';
import { openEnvelope } from '../../contracts/seals';
import { SessionHost } from '../../exec/host/session-host';
import { OrphanSweep, sessionOwner } from '../../workers/host/orphan-sweep';
import { at, FakeServer } from '../helpers/engines/fake-server';
import { testHost, type TestHost } from '../helpers/terminals/session-host';
import { lengthenHistory } from '../helpers/engines/long-history';
import { call, QUICK_YIELD, scratch, testClient, uniqueId } from '../helpers/engines/temporal';
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
  await until(async () => host.isOpen(shell) && (await host.status(shell)).command !== null);
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

/** Of the messages `stop` in the agent's history. */
async function stopReasons(agent: string): Promise<unknown[]> {
  const { events } = await client.temporal.workflow.getHandle(agentWorkflowId(agent)).fetchHistory();
  const stops = (events ?? [])
    .map((event) => event.workflowExecutionSignaledEventAttributes)
    .filter((signal) => signal?.signalName === AGENT_MESSAGES.stop.name);
  const converter = client.temporal.options.loadedDataConverter;
  const args = stops.map((signal) => decodeArrayFromPayloads(converter, signal?.input?.payloads));
  return (await Promise.all(args)).map((one) => (openEnvelope(one).args[0] as { reason?: unknown }).reason);
}

test('the sub-agents of a terminated agent are stopped within a minute, with the reason; those of a living one are not', async () => {
  const files = scratch();
  const idle = files.model([{ delayMs: 600_000, text: 'never' }]);
  const start = async (id: string): Promise<AgentHandle> => {
    const spawn = call('spawn_agent', { role: 'child', prompt: 'x', model: idle });
    await client
      .agent(id)
      .start({ task: 'x', model: files.model([{ text: spawn }, { delayMs: 600_000, text: 'never' }]) });
    await until(async () => (await client.agent(id).state()).agents[0]?.agentId === `${id}-child-1`);
    return client.agent(`${id}-child-1`);
  };
  const [dead, living] = [uniqueId('dead'), uniqueId('living')];
  const [orphan, child] = await Promise.all([start(dead), start(living)]);
  await client.temporal.workflow.getHandle(agentWorkflowId(dead)).terminate('too dear');
  await until(async () => (await orphan.state()).status === 'ended', SWEPT_MS);
  expect(await orphan.result()).toMatchObject({ reason: 'stopped' });
  expect(await child.state()).toMatchObject({ status: 'working' });
  expect(await stopReasons(`${dead}-child-1`)).toEqual([
    expect.stringMatching(/its parent was terminated by .+: too dear/),
  ]);
  await client.agent(living).stop();
  expect(await child.result()).toMatchObject({ reason: 'stopped' });
  files.remove();
}, 90_000);

test('a wait for a sub-agent that is terminated meanwhile ends, and says so', async () => {
  const files = scratch();
  const agent = client.agent(uniqueId('waits'));
  await agent.start({ mode: 'conversation', model: files.model([{ text: 'one' }]) });
  const idle = files.model([{ delayMs: 600_000, text: 'never' }]);
  const child = await agent.spawn({ key: 'k', role: 'child', prompt: 'x', model: idle });
  const waiting = agent.waitForAgents({ agentIds: [child] });
  await client.temporal.workflow.getHandle(agentWorkflowId(child)).terminate('too dear');
  expect((await waiting).results[child]).toMatchObject({ status: 'ended', error: { code: 'agent_ended' } });
  await agent.stop();
  files.remove();
}, 60_000);

test('an agent that has continued as new learns that its sub-agent was terminated', async () => {
  const files = scratch();
  const id = uniqueId('carries');
  const agent = client.agent(id);
  await agent.start({ mode: 'conversation', model: files.model([{ text: 'one' }, { text: 'two' }]) });
  await agent.send('one');
  const idle = files.model([{ delayMs: 600_000, text: 'never' }]);
  const child = await agent.spawn({ key: 'k', role: 'child', prompt: 'x', model: idle });
  const { runId } = await agent.state();
  await lengthenHistory(client, id);
  await agent.send('two');
  await until(async () => (await agent.state()).runId !== runId);
  await client.temporal.workflow.getHandle(agentWorkflowId(child)).terminate('too dear');
  await until(async () => (await agent.state()).agents[0]?.status === 'ended', SWEPT_MS);
  const { results } = await agent.waitForAgents({ agentIds: [child] });
  const error = { code: 'agent_ended', message: expect.stringContaining('too dear') as unknown };
  expect(results[child]).toMatchObject({ status: 'ended', reason: 'stopped', error });
  await agent.stop();
  files.remove();
}, 120_000);

test('a session that was reset in the web UI repeats no finished command, and continues', async () => {
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

  const sweepOf = (sessions: SessionHost): OrphanSweep =>
    new OrphanSweep({ client: client.temporal, sessions, host: 'local', log: () => undefined });

  test('ends a session that has no workflow only at its second look', async () => {
    const host = new SessionHost({ ...t.host.options, owner: () => sessionOwner(client.temporal) });
    await host.run(t.ref, { id: 'one', runtime: 'terminal', code: 'sleep 1000' });
    const sweep = sweepOf(host);
    expect(await sweep.look()).toEqual([]);
    expect(host.isOpen(t.ref)).toBe(true);
    expect(await sweep.look()).toEqual([t.ref]);
    expect(host.isOpen(t.ref)).toBe(false);
    host.detach();
  });

  test.each([
    ['another server has', 'another-cluster/default'],
    ['nobody named', undefined],
  ])('does not touch a session whose workflow %s', async (_, owner) => {
    const host = new SessionHost({ ...t.host.options, owner: () => Promise.resolve(owner) });
    await host.run(t.ref, { id: 'one', runtime: 'terminal', code: 'sleep 1000' });
    const sweep = sweepOf(host);
    expect([await sweep.look(), await sweep.look()]).toEqual([[], []]);
    expect(host.isOpen(t.ref)).toBe(true);
    host.detach();
  });
});

test('the sessions of an agent that was to keep them are left open when it is terminated', async () => {
  const files = scratch();
  const id = uniqueId('keeper');
  const sleeping = call('code_execution_tool', { runtime: 'terminal', session: 3, code: 'sleep 1000' });
  const replies = [{ text: sleeping }, { text: 'late', delayMs: 600_000 }];
  await client.agent(id).start({ task: 'x', keep: true, model: files.model(replies), yield: QUICK_YIELD });
  const host = runHost();
  const session = client.session({ agent: id, session: 3 });
  await until(() => host.isOpen(session.ref));
  await client.temporal.workflow.getHandle(agentWorkflowId(id)).terminate('too dear');
  const sweep = new OrphanSweep({
    client: client.temporal,
    sessions: host,
    host: 'local',
    log: () => undefined,
  });
  await sweep.look();
  await sweep.look();
  expect(await session.state()).not.toMatchObject({ status: 'closed' });
  expect(host.isOpen(session.ref)).toBe(true);
  await session.close('test ended');
  await session.closed();
  host.detach();
  files.remove();
}, 60_000);

describe('a sweep of one session', () => {
  const SESSION = 'exec/test/local/0';
  const AGENT = 'agent/test';
  const closed: string[] = [];
  beforeEach(() => void closed.splice(0));

  const sweepOf = ({ client: fake }: FakeServer): OrphanSweep => {
    const sessions = {
      list: () => [{ agent: 'test', host: 'local', session: 0 }],
      isOpen: () => closed.length === 0,
      ownerOf: () => 'c/default',
      close: async (_ref: object, reason: string) => void closed.push(reason),
    } as unknown as SessionHost;
    return new OrphanSweep({ client: fake, sessions, host: 'local', log: () => undefined });
  };

  test.each(['RUNNING', 'PAUSED', 'CONTINUED_AS_NEW', 'UNSPECIFIED', 'UNKNOWN', 'OF_THE_FUTURE'])(
    'spares it while its workflow is %s',
    async (status) => {
      const sweep = sweepOf(new FakeServer({ [SESSION]: { status } }));
      for (let looks = 0; looks < 3; looks += 1) await sweep.look();
      expect(closed).toEqual([]);
    },
  );

  test.each(['COMPLETED', 'FAILED', 'CANCELED', 'TERMINATED', 'TIMED_OUT'])(
    'ends it when its workflow is %s',
    async (status) => {
      const sweep = sweepOf(new FakeServer({ [SESSION]: { status } }));
      await sweep.look();
      expect(closed).toEqual([]);
      await sweep.look();
      expect(closed).toHaveLength(1);
    },
  );

  test('spares it when another server answers in the place of its own, also just before its end', async () => {
    const server = new FakeServer({});
    server.clusterId = 'other';
    const sweep = sweepOf(server);
    for (let looks = 0; looks < 3; looks += 1) await sweep.look();
    server.clusterId = 'c';
    await sweep.look();
    // It has been asked which server it is, and answers once more, that the workflow is not there.
    server.onDescribe = () => void (server.clusterId = 'other');
    expect(await sweep.look()).toEqual([]);
    expect(closed).toEqual([]);
    Object.assign(server, { clusterId: 'c', onDescribe: () => undefined });
    await sweep.look();
    expect(await sweep.look()).toHaveLength(1);
  });

  test('spares it when it was opened anew just before its end', async () => {
    const server = new FakeServer({ [SESSION]: { status: 'TERMINATED' } });
    const sweep = sweepOf(server);
    await sweep.look();
    // Between the second look at it and its end.
    Object.assign(server.client.workflowService, {
      getWorkflowExecutionHistoryReverse: async () => {
        server.workflows[SESSION] = { status: 'RUNNING' };
        return {};
      },
    });
    expect(await sweep.look()).toEqual([]);
    expect(closed).toEqual([]);
  });

  test('reports once, not at each look, that its agent was terminated', async () => {
    const agent = { status: 'TERMINATED', runId: 'one', closeTime: at(10) };
    const server = new FakeServer({ [SESSION]: { status: 'RUNNING' }, [AGENT]: agent });
    const sweep = sweepOf(server);
    for (let looks = 0; looks < 3; looks += 1) await sweep.look();
    expect(server.signals).toEqual([`${SESSION} close`]);
    server.workflows[AGENT] = { ...agent, runId: 'two' };
    await sweep.look();
    expect(server.signals).toHaveLength(2);
  });

  test('reads once what its agent was to keep', async () => {
    const agent = { status: 'TERMINATED', closeTime: at(10), input: { task: 'x', keep: true } };
    const server = new FakeServer({ [SESSION]: { status: 'RUNNING' }, [AGENT]: agent });
    const sweep = sweepOf(server);
    for (let looks = 0; looks < 3; looks += 1) await sweep.look();
    expect([server.signals, server.histories]).toEqual([[], 1]);
  });

  test.each([
    ['closes it', 'before', 5, 1],
    ['spares it', 'after', 15, 0],
  ])('%s when its first run began %s its agent’s end, whenever the run of now did', async (...row) => {
    const server = new FakeServer({
      [SESSION]: { status: 'RUNNING', runId: 'now', firstRunId: 'first', startTime: at(20) },
      [`${SESSION}#first`]: { status: 'CONTINUED_AS_NEW', runId: 'first', startTime: at(row[2]) },
      [AGENT]: { status: 'TERMINATED', closeTime: at(10) },
    });
    await sweepOf(server).look();
    expect(server.signals).toHaveLength(row[3]);
  });

  test('closes it when its first run is so old that the server has forgotten it', async () => {
    const server = new FakeServer({
      [SESSION]: { status: 'RUNNING', runId: 'now', firstRunId: 'first', startTime: at(20) },
      [AGENT]: { status: 'TERMINATED', closeTime: at(10) },
    });
    await sweepOf(server).look();
    expect(server.signals).toHaveLength(1);
  });
});

describe('the limit of sessions', () => {
  let t: TestHost;
  beforeEach(() => (t = testHost()));
  afterEach(() => t.end());

  test('refuses one too many, names the idle ones, and leaves nothing behind; other agents are unaffected', async () => {
    const host = new SessionHost({ ...t.host.options, maxSessionsPerAgent: 3 });
    const run = (session: number, code: string, agent = 'test'): Promise<unknown> =>
      host.run({ ...t.ref, agent, session }, { id: `c${session}`, runtime: 'terminal', code });
    await Promise.all([run(1, 'true'), run(2, 'sleep 1000'), run(3, 'true')]);
    for (const session of [1, 3])
      await host.observe({ ...t.ref, session }, { kind: 'exit', from: 0, timeoutMs: 30_000 });
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

  test('holds for sessions opened at the same time', async () => {
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

// What lists can be filtered by: what agents, turns and sessions are doing and what they wait for, in search attributes.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time';
import type { ListAgentsRequest } from '../../../client/agents/agent-directory';
import { HoldfastClient } from '../../../client/holdfast-client';
import type { AgentInput } from '../../../contracts/schemas/agent';
import { MAIN_TASK_QUEUE, sessionWorkflowId } from '../../../contracts/ids';
import { SEARCH_ATTRIBUTES } from '../../../contracts/messages';
import { UI_VIEWS } from '../../../contracts/agents/ui-views';
import { quietenRuntime } from '../../../testing/quiet-runtime';
import { createWorkers, type Workers } from '../../../workers';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { call, QUICK_YIELD, scratch, uniqueId, type Reply } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const engine = new EngineOfItsOwn();
const files = scratch();

beforeAll(async () => {
  quietenRuntime();
  await engine.startServer();
  engine.configure('[policy.agents]\nheld = "ask"\n');
  await engine.start();
}, 60_000);
afterAll(async () => {
  const left = await engine.end();
  files.remove();
  expect(left).toEqual([]);
}, 60_000);

type Told = [state: unknown, waitsFor: unknown];

async function told(workflowId: string, client = engine.client): Promise<Told> {
  const { searchAttributes } = await client.temporal.workflow.getHandle(workflowId).describe();
  const valueOf = (name: string): unknown => searchAttributes[name]?.[0];
  return [valueOf(SEARCH_ATTRIBUTES.state), valueOf(SEARCH_ATTRIBUTES.waitsFor)];
}

const untilTold = (workflowId: string, ...expected: Told): Promise<void> =>
  until(async () => String(await told(workflowId).catch(() => [])) === String(expected));

/** How many events of search attributes it has. */
async function upserts(workflowId: string): Promise<number> {
  const { events } = await engine.client.temporal.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).filter((event) => event.upsertWorkflowSearchAttributesEventAttributes).length;
}

const conversation = (...replies: Reply[]): AgentInput => ({
  mode: 'conversation',
  ...files.settings(replies),
});

test('an agent is idle and waits for a message, works, is idle again, and has ended; each change is one event', async () => {
  const id = uniqueId('told');
  const agent = engine.client.agent(id);
  // Works long enough to be seen at it, by a busy machine, too.
  await agent.start(conversation({ text: 'one', delayMs: 6_000 }));
  const workflowId = `agent/${id}`;
  expect(await told(workflowId)).toEqual(['idle', 'message']);
  const answered = agent.send('go');
  await untilTold(workflowId, 'working', 'none');
  // An agent says that it works with the same task that asks the server for a turn.
  await untilTold(`${workflowId}/turn/1`, 'working', 'none');
  await answered;
  await untilTold(workflowId, 'idle', 'message');
  expect(await upserts(workflowId)).toBe(2);
  expect(await upserts(`${workflowId}/turn/1`)).toBe(0);
  await agent.stop('seen');
  await agent.result();
  expect(await told(workflowId)).toEqual(['ended', 'none']);
});

test('an agent that is started without the attributes, as from the web UI, sets them itself', async () => {
  const workflowId = `agent/${uniqueId('bare')}`;
  await engine.client.temporal.workflow.start('agent', {
    workflowId,
    taskQueue: MAIN_TASK_QUEUE,
    args: [conversation()],
  });
  await untilTold(workflowId, 'idle', 'message');
  await engine.client.temporal.workflow.getHandle(workflowId).signal('stop');
  await untilTold(workflowId, 'ended', 'none');
});

test('a session tells that it waits for input, that it runs, and that it is idle; a brief command leaves no event', async () => {
  const session = engine.client.session({ agent: uniqueId('told'), session: 0 }, { yield: QUICK_YIELD });
  await session.exec({ code: 'true' });
  await session.exec({ code: 'echo brief' });
  expect(await told(session.workflowId)).toEqual(['idle', 'none']);
  expect(await upserts(session.workflowId)).toBe(0);
  await session.exec({ code: 'read -r x; sleep 1000' });
  await untilTold(session.workflowId, 'waiting_input', 'input');
  await session.input({ keyboard: 'y' });
  await untilTold(session.workflowId, 'running', 'none');
  await session.reset();
  await untilTold(session.workflowId, 'idle', 'none');
  expect(await upserts(session.workflowId)).toBe(3);
  await session.close('seen');
});

test('who waits for an approval says so: the session and its agent', async () => {
  const replies = [
    { text: call('code_execution_tool', { runtime: 'terminal', code: 'true' }) },
    { text: 'ok' },
  ];
  const agent = engine.client.agent('held');
  await agent.start(conversation(...replies));
  const answered = agent.send('go');
  const session = sessionWorkflowId({ agent: 'held', host: 'local', session: 0 });
  await untilTold(session, 'waiting_approval', 'approval');
  await untilTold('agent/held', 'working', 'approval');
  await engine.client.approvals.deny(session);
  await answered;
  await untilTold(session, 'idle', 'none');
  await untilTold('agent/held', 'idle', 'message');
  await agent.stop();
});

test('a turn says that it waits for sub-agents', async () => {
  const id = uniqueId('told');
  const never = files.model([{ text: 'late', delayMs: 600_000 }]);
  const replies = [
    { text: call('spawn_agent', { role: 'slow', prompt: 'x', model: never }) },
    { text: call('wait_for_agents', { agent_ids: [`${id}-slow-1`] }) },
  ];
  await engine.client.agent(id).start({ task: 'go', model: files.model(replies) });
  await untilTold(`agent/${id}/turn/1`, 'working', 'agents');
  expect(await told(`agent/${id}-slow-1`)).toEqual(['working', 'none']);
  await engine.client.agent(id).stop();
});

test('agents are listed by what they do, what they wait for, their id and their first message, ended ones on request', async () => {
  const prefix = uniqueId('listed');
  const start = (name: string, input: Partial<AgentInput>): Promise<void> =>
    engine.client.agent(`${prefix}-${name}`).start({ ...conversation({ text: 'ok' }), ...input });
  await start('idle', {});
  await start('done', { mode: 'task', task: 'Count the PEARS' });
  await start('busy', { task: 'Weigh the pears', model: files.model([{ text: 'late', delayMs: 600_000 }]) });
  await engine.client.agent(`${prefix}-done`).result();
  const names = async (request: ListAgentsRequest): Promise<string[]> => {
    const found: string[] = [];
    for await (const { id } of engine.client.agents.list(request))
      if (id.startsWith(prefix)) found.push(id.slice(prefix.length + 1));
    return found.sort();
  };
  await until(async () => String(await names({ state: 'working' })) === 'busy');
  await until(async () => String(await names({ state: 'idle', waitsFor: 'message' })) === 'idle');
  await until(async () => String(await names({ state: 'ended' })) === 'done');
  expect(await names({})).toEqual(['busy', 'idle']);
  expect(await names({ ended: true })).toEqual(['busy', 'done', 'idle']);
  expect(await names({ text: 'pears' })).toEqual(['busy']);
  expect(await names({ text: 'pears', ended: true })).toEqual(['busy', 'done']);
  expect(await names({ text: `${prefix.toUpperCase()}-I` })).toEqual(['idle']);
  await expect(names({ state: 'asleep' as 'idle' })).rejects.toMatchObject({ code: 'invalid_input' });
  const all = [];
  for await (const entry of engine.client.agents.list({ text: `${prefix}-done`, ended: true }))
    all.push(entry);
  expect(all).toMatchObject([
    {
      workflowId: `agent/${prefix}-done`,
      state: 'ended',
      waitsFor: 'none',
      message: 'Count the PEARS',
      end: { how: 'completed' },
    },
  ]);
  await engine.client.agent(`${prefix}-busy`).stop();
});

test('`up` prints the view of who waits, and with --json all views', async () => {
  const { stdout } = await engine.cliInTurn(['up']);
  expect(stdout).toMatch(
    /^who waits +http:\S+query=\S+HoldfastWaitsFor\S+&savedQuery=Waits%20for%20somebody$/m,
  );
  const { views } = JSON.parse((await engine.cliInTurn(['up', '--json'])).stdout) as {
    views: { name: string }[];
  };
  expect(views.map(({ name }) => name)).toEqual(UI_VIEWS.map(({ name }) => name));
});

describe('on a server that has only the older attributes and accepts no new ones', () => {
  const namespace = 'older';
  let client: HoldfastClient;
  let workers: Workers;
  let running: Promise<void>;
  let dataDir: string;
  const log: string[] = [];

  beforeAll(async () => {
    const { address } = engine.client;
    const { connection } = engine.client.temporal;
    await engine.client.temporal.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: msToTs('24 hours'),
    });
    client = await HoldfastClient.connect({ address, namespace }, {});
    await until(() =>
      client.temporal.workflow.count().then(
        () => true,
        () => false,
      ),
    );
    const { operatorService } = connection as Connection;
    const add = (names: Record<string, number>): Promise<unknown> =>
      operatorService.addSearchAttributes({ namespace, searchAttributes: names });
    await add({ HoldfastAgent: KEYWORD, HoldfastHost: KEYWORD, HoldfastSession: INT });
    // A server has a fixed number of keywords: it refuses more.
    let isRefused = false;
    for (let other = 0; other < 50 && !isRefused; other += 1)
      await add({ [`Other${other}`]: KEYWORD }).catch(() => (isRefused = true));
    expect(isRefused).toBe(true);
    dataDir = mkdtempSync(join(tmpdir(), 'holdfast-older-'));
    workers = await createWorkers({
      dataDir,
      address,
      namespace,
      log: { info: () => undefined, warn: (message) => void log.push(message) },
    });
    running = workers.run();
  }, 60_000);
  afterAll(async () => {
    workers.shutdown();
    await running;
    await client.close();
    rmSync(dataDir, { recursive: true, force: true });
  }, 60_000);

  test('agents and sessions work as before, however they are started, and the worker says what is missing', async () => {
    const replies = [
      { text: call('code_execution_tool', { runtime: 'terminal', code: 'echo hi' }) },
      { expect: 'hi', text: 'ok' },
    ];
    const id = uniqueId('older');
    await client.agent(id).start({ task: 'go', ...files.settings(replies) });
    expect(await client.agent(id).result()).toMatchObject({ answer: 'ok' });
    const workflowId = `agent/${uniqueId('bare')}`;
    const bare = await client.temporal.workflow.start('agent', {
      workflowId,
      taskQueue: MAIN_TASK_QUEUE,
      args: [{ task: 'go', ...files.settings(replies) }],
    });
    expect(await bare.result()).toMatchObject({ answer: 'ok' });
    expect(await told(workflowId, client)).toEqual([undefined, undefined]);
    const listed = client.agents.list({ state: 'idle' });
    await expect(listed.next()).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining('HoldfastState') as string,
    });
    expect(log).toContain('search attributes could not be registered');
  });
});

/** temporal.api.enums.v1.IndexedValueType */
const KEYWORD = 2;
const INT = 3;

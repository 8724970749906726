// What agents ask of their server: each request and each event is time of a server that all agents share.
import { temporal } from '@temporalio/proto';
import { agentWorkflowId, LOCAL_HOST, sessionWorkflowId, turnWorkflowId } from '../../../contracts/ids';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { NamespaceTap } from '../../helpers/engines/namespace-tap';
import { call, scratch, uniqueId } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const engine = new EngineOfItsOwn();
const files = scratch();
/** Between the worker and its server; the test's own client does without. */
const tap = new NamespaceTap();
let throughTap: string;

beforeAll(async () => {
  const { address } = await engine.startServer();
  throughTap = await tap.open(address);
  await engine.startWorker({ address: throughTap });
  await engine.connect();
}, 60_000);
afterAll(async () => {
  const left = await engine.end();
  tap.close();
  files.remove();
  expect(left).toEqual([]);
}, 60_000);

async function eventsOf(workflowId: string): Promise<string[]> {
  const { events } = await engine.client.temporal.workflow.getHandle(workflowId).fetchHistory();
  const { EventType } = temporal.api.enums.v1;
  return (events ?? []).map(({ eventType }) =>
    String(EventType[Number(eventType)]).replace('EVENT_TYPE_', ''),
  );
}
const queries = (): number => tap.asked.filter(({ method }) => method === 'QueryWorkflow').length;

const TASK = ['WORKFLOW_TASK_SCHEDULED', 'WORKFLOW_TASK_STARTED', 'WORKFLOW_TASK_COMPLETED'];

test('an agent that answers at once runs its turn and nothing else, and the turn its model and nothing else', async () => {
  const id = uniqueId('brief');
  const agent = engine.client.agent(id);
  await agent.start({ task: 'go', model: files.model([{ text: 'done' }]) });
  await agent.result();
  expect(await eventsOf(agentWorkflowId(id))).toEqual([
    'WORKFLOW_EXECUTION_STARTED',
    ...TASK,
    'START_CHILD_WORKFLOW_EXECUTION_INITIATED',
    'CHILD_WORKFLOW_EXECUTION_STARTED',
    ...TASK,
    'CHILD_WORKFLOW_EXECUTION_COMPLETED',
    ...TASK,
    'UPSERT_WORKFLOW_SEARCH_ATTRIBUTES',
    'WORKFLOW_EXECUTION_COMPLETED',
  ]);
  expect(await eventsOf(turnWorkflowId(id, 1))).toEqual([
    'WORKFLOW_EXECUTION_STARTED',
    ...TASK,
    'ACTIVITY_TASK_SCHEDULED',
    'ACTIVITY_TASK_STARTED',
    'ACTIVITY_TASK_COMPLETED',
    ...TASK,
    'WORKFLOW_EXECUTION_COMPLETED',
  ]);
});

/** Actions as Temporal Cloud bills them (docs.temporal.io/cloud/actions), those that histories show. */
const BILLED: Readonly<Record<string, number>> = {
  WORKFLOW_EXECUTION_STARTED: 1,
  START_CHILD_WORKFLOW_EXECUTION_INITIATED: 1,
  WORKFLOW_EXECUTION_SIGNALED: 1,
  WORKFLOW_EXECUTION_UPDATE_ACCEPTED: 1,
  ACTIVITY_TASK_STARTED: 1,
  MARKER_RECORDED: 1,
  TIMER_STARTED: 1,
  UPSERT_WORKFLOW_SEARCH_ATTRIBUTES: 1,
};

/** Of an agent that runs as many quick commands, one in each step, and all that it asks for. */
async function asked(commands: number): Promise<{ actions: number; events: number }> {
  const id = uniqueId('billed');
  const agent = engine.client.agent(id);
  const step = { text: call('code_execution_tool', { runtime: 'terminal', code: 'true' }) };
  const replies = [...Array.from({ length: commands }, () => step), { text: 'done' }];
  const before = queries();
  await agent.start({ task: 'go', model: files.model(replies) });
  await agent.result();
  const session = { agent: id, host: LOCAL_HOST, session: 0 };
  const workflows = [
    agentWorkflowId(id),
    turnWorkflowId(id, 1),
    ...(commands ? [sessionWorkflowId(session)] : []),
  ];
  const events = (await Promise.all(workflows.map(eventsOf))).flat();
  const billed = events.reduce((sum, event) => sum + (BILLED[event] ?? 0), 0);
  return { actions: billed + queries() - before, events: events.length };
}

test('an agent that answers at once costs five actions, and each further step with a quick command four', async () => {
  expect(await asked(0)).toEqual({ actions: 5, events: 26 });
  const [two, three] = [await asked(2), await asked(3)];
  expect(three.actions - two.actions).toBe(4);
  expect(three.events - two.events).toBeLessThanOrEqual(23);
});

test('sub-agents that one reply starts cost the turn one signal and no activity, and their agent looks for no sessions', async () => {
  const id = uniqueId('parent');
  const agent = engine.client.agent(id);
  const spawns = [1, 2, 3].map((n) => ({
    tool_name: 'spawn_agent',
    call_id: `a${n}`,
    arguments: { role: 'Finder', prompt: 'find it', model: files.model([{ text: 'found' }]) },
  }));
  const wait = {
    tool_name: 'wait_for_agents',
    call_id: 'w',
    arguments: { agent_ids: spawns.map(({ call_id }) => `$${call_id}`) },
  };
  const replies = [
    { text: `<tool>${JSON.stringify([...spawns, wait])}</tool>` },
    { expect: '("answer": "found"[^]*){3}', text: 'done' },
  ];
  await agent.start({ task: 'go', model: files.model(replies), dialect: 'tagged' });
  expect(await agent.result()).toMatchObject({ answer: 'done' });
  const count = async (workflowId: string): Promise<Record<string, number>> => {
    const counts: Record<string, number> = {};
    for (const event of await eventsOf(workflowId)) counts[event] = (counts[event] ?? 0) + 1;
    return counts;
  };
  const turn = await count(turnWorkflowId(id, 1));
  // Two model calls; the signals that start the sub-agents and wait for them, and the answers.
  expect(turn).toMatchObject({
    ACTIVITY_TASK_SCHEDULED: 2,
    SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED: 2,
    WORKFLOW_EXECUTION_SIGNALED: 2,
  });
  const parent = await count(agentWorkflowId(id));
  expect(parent).toMatchObject({ START_CHILD_WORKFLOW_EXECUTION_INITIATED: 4 });
  expect(parent).not.toHaveProperty('ACTIVITY_TASK_SCHEDULED');
  expect(parent).not.toHaveProperty('WORKFLOW_EXECUTION_UPDATE_ACCEPTED');
  // The time line has those calls as it has others.
  const { items } = await engine.client.timeLine(id);
  const told = items.filter(({ text }) => text === 'Start of a sub-agent');
  expect(told).toHaveLength(3);
  expect(
    told.every(({ kind, turn, durationMs }) => kind === 'tool' && turn === 1 && durationMs !== null),
  ).toBe(true);
});

test('a model call in the worker that recorded the conversation asks no workflow for it; in the next worker it has all of it', async () => {
  const id = uniqueId('told');
  const agent = engine.client.agent(id);
  const replies = [
    { text: call('read_file', { file_path: __filename }) },
    { expect: 'asks no workflow', text: 'one' },
    { expect: 'and again', text: 'two' },
    // Which reply it is, is the number of replies that it reads in its conversation.
    { expect: 'at last', text: 'three' },
  ];
  await agent.start({ mode: 'conversation', model: files.model(replies) });
  const before = queries();
  expect(await agent.send('go')).toMatchObject({ answer: 'one' });
  expect(await agent.send('and again')).toMatchObject({ answer: 'two' });
  expect(queries()).toBe(before);
  await engine.killWorker();
  await engine.startWorker({ address: throughTap });
  expect(await agent.send('at last')).toMatchObject({ answer: 'three' });
  expect(queries()).toBeGreaterThan(before);
  await agent.stop('done');
  await agent.result();
});

test('sessions opened ahead of a turn that never begins are closed with their agent', async () => {
  const id = uniqueId('ahead');
  const agent = engine.client.agent(id);
  await agent.start({ mode: 'conversation', model: files.model([]), openSessions: [0] });
  const session = engine.client.session({ agent: id, session: 0 });
  await until(async () => (await session.state().catch(() => null))?.status === 'idle');
  await agent.stop('done');
  await agent.result();
  expect(await session.state()).toMatchObject({ status: 'closed' });
});

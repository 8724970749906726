// Tenants take turns at the workers: whose task is whose, and who is served first.
import type { temporal } from '@temporalio/proto';
import { EngineOfItsOwn } from '../../../helpers/engines/engine-of-its-own';
import { call, scratch, uniqueId } from '../../../helpers/engines/temporal';
import { until } from '../../../helpers/until';

const engine = new EngineOfItsOwn();
const files = scratch();

beforeAll(async () => {
  await engine.startServer();
  await engine.connect();
}, 60_000);
afterAll(async () => {
  const left = await engine.end();
  files.remove();
  expect(left).toEqual([]);
}, 60_000);

type Described = temporal.api.workflowservice.v1.IDescribeWorkflowExecutionResponse;
const describe = async (workflowId: string): Promise<Described> =>
  (await engine.client.temporal.workflow.getHandle(workflowId).describe()).raw;
const tenantOf = async (workflowId: string): Promise<string | null | undefined> =>
  (await describe(workflowId)).workflowExecutionInfo?.priority?.fairnessKey;

const CROWD = 150;

test('an agent of another tenant is served before most of a crowd that came first', async () => {
  const replies = [{ text: 'done' }];
  const crowd = Array.from({ length: CROWD }, () => engine.client.agent(uniqueId('crowd')));
  // No worker serves them yet: all of them wait.
  await Promise.all(
    crowd.map((agent) => agent.start({ task: 'go', tenant: 'large', ...files.settings(replies) })),
  );
  const small = engine.client.agent(uniqueId('small'));
  await small.start({ task: 'go', tenant: 'small', ...files.settings(replies) });
  await engine.startWorker();
  expect(await small.result()).toMatchObject({ answer: 'done' });
  await Promise.all(crowd.map((agent) => agent.result()));
  // By the server's clock: on a busy machine the answer may reach this process late.
  const { closeTime } = await engine.client.temporal.workflow.getHandle(small.workflowId).describe();
  const { count } = await engine.client.temporal.workflow.count(
    `WorkflowType = "agent" AND CloseTime < "${closeTime?.toISOString()}"`,
  );
  expect(count).toBeLessThan(CROWD / 2);
}, 120_000);

test("an agent's turns, sessions, sub-agents and their turns are its tenant's, and a fork stays so", async () => {
  await engine.startWorker();
  const id = uniqueId('owned');
  const agent = engine.client.agent(id);
  const session = call('code_execution_tool', { runtime: 'terminal', session: 0, code: 'true' });
  await agent.start({
    ...{ mode: 'conversation', tenant: 'team-a' },
    ...files.settings([{ text: session }, { text: 'done' }, { text: 'late', delayMs: 60_000 }]),
  });
  await agent.send('go');
  const subAgent = await agent.spawn({ key: 'one', role: 'helper', prompt: 'go', instructions: 'help' });
  await agent.post('again');
  const turn = `agent/${id}/turn/2`;
  await until(async () => ((await describe(turn).catch(() => null))?.pendingActivities ?? []).length > 0);
  const fork = await agent.fork(uniqueId('fork'), { at: 0 });
  const owned = [agent.workflowId, turn, `exec/${id}/local/0`, `agent/${subAgent}`, fork.workflowId];
  expect(await Promise.all(owned.map(tenantOf))).toEqual(owned.map(() => 'team-a'));
  await Promise.all([agent.stop(), fork.stop()]);
}, 60_000);

test('an agent without a tenant is one of its own, with all that it starts', async () => {
  await engine.startWorker();
  const id = uniqueId('alone');
  const agent = engine.client.agent(id);
  const spawn = call('spawn_agent', { role: 'helper', prompt: 'go' });
  await agent.start({ mode: 'conversation', ...files.settings([{ text: spawn }, { text: 'done' }]) });
  await agent.send('go');
  const [subAgent] = (await agent.ownState()).agents ?? [];
  const owned = [agent.workflowId, `agent/${id}/turn/1`, `agent/${subAgent?.agentId}`];
  expect(await Promise.all(owned.map(tenantOf))).toEqual(owned.map(() => id));
  await agent.stop();
}, 60_000);

test('an agent that was started through Temporal itself with a tenant has turns of that tenant', async () => {
  await engine.startWorker();
  const workflowId = `agent/${uniqueId('bare')}`;
  const bare = await engine.client.temporal.workflow.start('agent', {
    ...{ workflowId, taskQueue: 'holdfast' },
    args: [{ task: 'go', tenant: 'team-b', ...files.settings([{ text: 'done' }]) }],
  });
  await bare.result();
  expect(await tenantOf(`${workflowId}/turn/1`)).toBe('team-b');
}, 60_000);

test('a name that is no id is refused as a tenant', async () => {
  const agent = engine.client.agent(uniqueId('bad'));
  const input = { mode: 'conversation' as const, tenant: 'Team A', ...files.settings([]) };
  await expect(agent.start(input)).rejects.toMatchObject({ code: 'invalid_input' });
});

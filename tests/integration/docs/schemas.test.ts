// What a real run sends and answers has the shapes of docs/schemas, and no field that these do not name.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020';
import { fromFailure } from '../../../contracts/errors/failure';
import { AGENT_MESSAGES, TURN_MESSAGES } from '../../../contracts/messages/to-agents';
import { APPROVAL_MESSAGES } from '../../../contracts/messages/to-askers';
import { SESSION_MESSAGES } from '../../../contracts/messages/to-sessions';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { png } from '../../helpers/tools/images';
import { jsonSchemaOf, SCHEMAS } from '../../helpers/docs/schemas';
import { call, QUICK_YIELD, scratch } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const engine = new EngineOfItsOwn();
const files = scratch();

beforeAll(async () => {
  await engine.startServer();
  engine.configure('[policy.tools]\nwrite_file = "ask"\n[policy.agents]\nheld = "ask"\n');
  await engine.start();
}, 60_000);
afterAll(async () => {
  const left = await engine.end();
  files.remove();
  expect(left).toEqual([]);
}, 60_000);

const ajv = new Ajv2020({ strict: false, allowUnionTypes: true });

/** As JSON, since that is what others get. */
function expectShape(name: string, value: unknown): void {
  const described = SCHEMAS[name];
  if (!described) throw new Error(`no schema ${name}`);
  const check = ajv.compile(jsonSchemaOf(described, false));
  const isValid = check(JSON.parse(JSON.stringify(value)));
  expect({ name, isValid, errors: check.errors }).toEqual({ name, isValid: true, errors: null });
}

const handleOf = (workflowId: string): ReturnType<typeof engine.client.temporal.workflow.getHandle> =>
  engine.client.temporal.workflow.getHandle(workflowId);

test('an agent with a session, an approval and a sub-agent answers as its schemas say', async () => {
  const child = files.model([{ text: 'planned', usage: { inputTokens: 3, outputTokens: 1, costUsd: 0.01 } }]);
  const limits = { steps: 20 };
  const replies = [
    {
      text: call('code_execution_tool', { runtime: 'terminal', code: 'echo hi; read -r x' }),
      usage: { inputTokens: 5, outputTokens: 2 },
    },
    { text: call('input', { session: 0, keyboard: 'y' }) },
    { text: call('view_image', { path: 'shot.png' }) },
    { text: call('spawn_agent', { role: 'planner', prompt: 'plan', model: child }) },
    { text: call('wait_for_agents', { agent_ids: ['shapes-planner-1'] }) },
    { text: call('write_file', { path: join(files.directory, 'new'), content: 'x' }) },
    { text: 'done' },
  ];
  writeFileSync(join(files.directory, 'shot.png'), png(2, 2));
  const agent = engine.client.agent('shapes');
  const input = { mode: 'conversation' as const, ...files.settings(replies), limits };
  expectShape('agent.start', input);
  await agent.start(input);
  const message = { message: 'go', id: 'm1' };
  expectShape('agent.send', message);
  const answered = agent.send(message.message, { id: message.id });
  const turn = handleOf('agent/shapes/turn/1');
  await until(
    async () => (await turn.query<unknown[]>(APPROVAL_MESSAGES.approvals.name).catch(() => [])).length > 0,
  );
  await until(async () => ((await agent.ownState()).approvals ?? []).length > 0);
  const state = await handleOf('agent/shapes').query<object>(AGENT_MESSAGES.state.name);
  expect(state).toMatchObject({ approvals: [{}], agents: [{ status: 'ended' }], waits: { for: 'approval' } });
  expectShape('agent.state.answer', state);
  const turnState = await turn.query<object>(TURN_MESSAGES.state.name);
  expect(turnState).toMatchObject({ sessions: [{ session: 0 }], approvals: [{}] });
  expectShape('turn.state.answer', turnState);
  const waiting = await turn.query<{ id: string; hash: string }[]>(APPROVAL_MESSAGES.approvals.name);
  expectShape('approvals.approvals.answer', waiting);
  const [asked] = waiting;
  const approve = { id: asked?.id, hash: asked?.hash, by: 'a test' };
  expectShape('approvals.approve', approve);
  expectShape('approvals.answer', await engine.client.approvals.approve('agent/shapes/turn/1', approve));
  expectShape('agent.result', await answered);
  const result: unknown = await turn.result();
  expect(JSON.stringify(result)).toContain('planned');
  expectShape('turn.result', result);
  const page = await handleOf('agent/shapes').query<{ messages: unknown[] }>(AGENT_MESSAGES.transcript.name);
  expect(page.messages.length).toBeGreaterThan(10);
  expect(page.messages).toContainEqual(expect.objectContaining({ images: [expect.anything()] }));
  expectShape('agent.transcript.answer', page);
  const spawn = { key: 'k', role: 'other', prompt: 'plan', model: child };
  expectShape('agent.spawn', spawn);
  const agentId = await agent.spawn(spawn);
  expectShape('agent.spawn.answer', { agentId });
  const waitFor = { agentIds: [agentId], mode: 'all' as const, timeoutMs: 60_000 };
  expectShape('agent.waitForAgents', waitFor);
  expectShape('agent.waitForAgents.answer', await agent.waitForAgents(waitFor));
  expectShape('agent.state.answer', await agent.recover('seen'));
  await agent.stop('seen');
}, 60_000);

test('a session that runs, waits, ends and is held answers as its schemas say', async () => {
  const session = engine.client.session({ agent: 'shell', session: 7 }, { yield: QUICK_YIELD });
  const exec = { code: 'echo hi; read -r -s x', reader: 'me' };
  expectShape('execSession.exec', exec);
  expectShape('execSession.view.answer', await session.exec(exec));
  expectShape('execSession.state.answer', await session.state());
  const output = { wait: 'pattern:hi' as const, waitMs: 1_000 };
  expectShape('execSession.output', output);
  expectShape('execSession.view.answer', await session.output(output));
  expectShape(
    'execSession.output.answer',
    await handleOf(session.workflowId).query(SESSION_MESSAGES.lastView.name),
  );
  const wait = { sessions: [7], for: 'needs_input' as const };
  expectShape('execSession.wait', wait);
  expectShape('execSession.wait.answer', await session.wait(wait));
  const input = { keyboard: 'secret', keys: [] };
  expectShape('execSession.input', input);
  expectShape('execSession.view.answer', await session.input(input));
  await session.exec({ code: 'sleep 1000' });
  expectShape('execSession.view.answer', await session.reset({ reason: 'seen' }));
  expectShape('execSession.state.answer', await session.state());
  await session.close('seen');

  const held = engine.client.session({ agent: 'held', session: 0 }, { yield: QUICK_YIELD });
  const running = held.exec({ code: 'true' });
  const refused = expect(running).rejects.toMatchObject({ code: 'approval_denied' });
  await until(async () => (await held.state().catch(() => null))?.status === 'waiting_approval');
  expectShape('execSession.state.answer', await held.state());
  expectShape(
    'execSession.output.answer',
    await handleOf(held.workflowId).query(SESSION_MESSAGES.lastView.name),
  );
  const deny = { reason: 'not here' };
  expectShape('approvals.deny', deny);
  expectShape('approvals.answer', await engine.client.approvals.deny(held.workflowId, deny));
  await refused;
  await held.close('seen');
}, 60_000);

test('an error has the shape of its schema for --json and for the client, and leads to its page in a failure, too', async () => {
  const { stderr, code } = await engine.cli(['output', '--session', '99', '--json']);
  const { error } = JSON.parse(stderr) as { error: unknown };
  expectShape('error', error);
  expect(code).toBeGreaterThan(64);
  const refused = await engine.client
    .agent('nobody')
    .send('x')
    .catch((err: unknown) => err);
  expectShape('error', refused);
  expect(refused).toMatchObject({ docs: 'docs/errors.md#not_found' });
  const failed: unknown = await engine.client.temporal.workflow
    .execute('agent', { workflowId: 'agent/wrong', taskQueue: 'holdfast', args: [{ tasks: 1 }] })
    .catch((err: unknown) => (err as Error).cause);
  expect(fromFailure(failed)?.code).toBe('invalid_input');
  expect(failed).toMatchObject({ details: [{}, { docs: 'docs/errors.md#invalid_input' }] });
});

// Checkpoints on a host with a data folder of its own: they are taken, compared and brought back there.
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { RemoteHost } from '../../helpers/hosts/remote-host';
import { call, QUICK_YIELD, scratch, uniqueId } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

/** A host that takes no task for this long is offline. */
const DELIVERY_MS = 30_000;

const engine = new EngineOfItsOwn({ ownServer: true });
const files = scratch();
let far: RemoteHost;
beforeAll(async () => {
  await engine.start();
  far = new RemoteHost('far', engine.server().address);
  await far.serve();
}, 60_000);
afterAll(async () => {
  await far.end();
  const left = await engine.end();
  files.remove();
  expect(left).toEqual([]);
}, 60_000);

test('an agent’s files on another host are recorded, compared and rewound there; while it is away, that is said', async () => {
  const cwd = join(far.root, 'project');
  mkdirSync(cwd);
  const write = (code: string): { text: string } => ({
    text: call('code_execution_tool', { runtime: 'terminal', code }),
  });
  const agent = engine.client.agent(uniqueId('far'));
  const model = files.model([write('echo one > a.txt'), write('echo two > a.txt'), { text: 'written' }]);
  await agent.start({ mode: 'conversation', host: 'far', cwd, model, yield: QUICK_YIELD });
  await agent.send('write');
  expect((await agent.workspace.diff({ step: 2 })).text).toMatch(/^-one\n\+two$/m);
  await agent.workspace.rewind(1);
  expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('one\n');
  expect(existsSync(join(far.dataDir, 'checkpoints', 'far', 'store.git'))).toBe(true);
  expect(existsSync(join(engine.dataDir, 'checkpoints', 'far'))).toBe(false);
  await far.kill();
  await expect(agent.workspace.rewind(0)).rejects.toMatchObject({ code: 'host_offline' });
  await agent.stop();
}, 120_000);

test('a sub-agent whose host is away for a while when it ends leaves its changes once the host is back', async () => {
  await far.kill();
  await far.serve();
  const cwd = join(far.root, 'shared');
  mkdirSync(cwd);
  const id = uniqueId('away');
  const child = `${id}-writer-1`;
  const written = { text: call('write_file', { file_path: 'a.txt', content: 'theirs\n' }) };
  const model = files.model([written, { delayMs: 3_000, text: 'written' }]);
  const replies = [
    call('spawn_agent', { role: 'Writer', prompt: 'write', model, workspace: 'own' }),
    call('wait_for_agents', { agent_ids: [child] }),
    call('apply_workspace', { agent_id: child }),
    'done',
  ];
  const agent = engine.client.agent(id);
  const scripted = files.model(replies.map((text) => ({ text })));
  await agent.start({ task: 'go', host: 'far', cwd, model: scripted, yield: QUICK_YIELD });
  const writer = engine.client.agent(child);
  const workflow = engine.client.temporal.workflow.getHandle(writer.workflowId);
  const turn = engine.client.temporal.workflow.getHandle(`${writer.workflowId}/turn/1`);
  /** What it does there is done and recorded; its answer is on its way. */
  const answers = async (): Promise<boolean> =>
    (await writer.state()).turn?.step === 2 && (await turn.describe()).raw.pendingActivities?.length === 1;
  await until(answers);
  await far.kill();
  /** Longer than it takes until a host counts as offline. */
  const hasWaited = async (): Promise<boolean> => {
    const { pendingActivities } = (await workflow.describe()).raw;
    const leaving = pendingActivities?.find(({ activityType }) => activityType?.name === 'leaveWorkspace');
    return Date.now() - Number(leaving?.scheduledTime?.seconds ?? Infinity) * 1_000 > DELIVERY_MS + 2_000;
  };
  await until(
    async () => (await hasWaited()) || (await workflow.describe()).status.name !== 'RUNNING',
    100_000,
  );
  await far.serve();
  expect(await agent.result()).toMatchObject({ answer: 'done' });
  const { messages } = await agent.transcript();
  expect(messages.findLast(({ role }) => role === 'tool')).toMatchObject({
    content: 'Applied: 1 added\nA a.txt',
  });
  expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('theirs\n');
}, 180_000);

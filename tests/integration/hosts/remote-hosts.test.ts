// Remote machines that serve shells: which one code goes to, what each allows, and what happens to work when
// one drops.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentInput } from '../../../contracts/schemas/agent';
import type { ToolResult } from '../../../contracts/agents/agent';
import { hostWorkflowId, turnWorkflowId } from '../../../contracts/ids';
import { HOST_MESSAGES } from '../../../contracts/messages/to-hosts';
import type { TurnResult } from '../../../contracts/agents/agent';
import type { HostState } from '../../../contracts/schemas/remote-hosts';
import { HoldfastClient } from '../../../client/holdfast-client';
import { runningWorker } from '../../../workers/process/worker-record';
import { CommandLines, type CliResult } from '../../helpers/engines/command-lines';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { testEachOf } from '../../helpers/run/long-run';
import { RemoteHost } from '../../helpers/hosts/remote-host';
import { call, QUICK_YIELD, scratch, uniqueId } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const engine = new EngineOfItsOwn();
const files = scratch();
let pi: RemoteHost;
let laptop: RemoteHost;

beforeAll(async () => {
  await engine.start();
  const { address } = engine.server();
  pi = new RemoteHost('pi', address);
  laptop = new RemoteHost('laptop', address);
}, 60_000);
afterAll(async () => {
  await Promise.all([pi.end(), laptop.end()]);
  const left = await engine.end();
  files.remove();
  expect(left).toEqual([]);
}, 60_000);

/** What the model reads for one call of the tool, made by a new agent. */
async function remote(args: object, input: Partial<AgentInput> = {}): Promise<ToolResult> {
  const id = uniqueId('remote');
  const model = files.model([{ text: call('code_execution_remote', args) }, { text: 'done' }]);
  await engine.client.agent(id).start({ task: 'go', model, yield: QUICK_YIELD, keep: true, ...input });
  const turn = engine.client.temporal.workflow.getHandle(turnWorkflowId(id, 1));
  await engine.client.agent(id).result();
  const { messages } = (await turn.result()) as TurnResult;
  const result = messages.find((message) => message.role === 'tool');
  if (!result) throw new Error('no result');
  return result;
}

const stateOf = (name: string): Promise<HostState> => engine.client.hosts.state(name);
const untilStatus = (name: string, status: HostState['status']): Promise<void> =>
  until(async () => (await stateOf(name).catch(() => null))?.status === status);

/** A host is chosen from the list, which follows a moment later. */
const untilListed = (name: string): Promise<void> =>
  until(async () =>
    (await engine.client.hosts.list()).some(({ host, status }) => host === name && status === 'online'),
  );

/** Every Node on the PATH, besides the one that runs the tests; the command line finds a newer one for an old one. */
const NODES = [
  ...new Set(
    [process.execPath, ...(process.env.PATH ?? '').split(':').map((folder) => join(folder, 'node'))]
      .filter((path) => existsSync(path))
      .map((path) => realpathSync(path)),
  ),
].map((path) => [execFileSync(path, ['--version'], { encoding: 'utf8' }).trim(), path] as const);

const error = (code: string): object =>
  expect.objectContaining({
    isError: true,
    content: expect.stringMatching(new RegExp(`^Error ${code}`)) as string,
  }) as object;

const run = (code: string): object => ({ runtime: 'terminal', code });
const touch = (): { file: string; args: object } => {
  const file = join(files.directory, uniqueId('ran'));
  return { file, args: run(`touch ${file}`) };
};

describe('without a host', () => {
  test('code for a remote machine ends as no_remote_host, and runs nowhere', async () => {
    const { file, args } = touch();
    expect(await remote(args)).toEqual(error('no_remote_host'));
    expect(existsSync(file)).toBe(false);
  });

  test('an agent bound to a host that never appeared gets unknown_host, and nothing runs anywhere', async () => {
    const { file, args } = touch();
    expect(await remote(args, { remoteHost: 'nowhere' })).toEqual(error('unknown_host'));
    expect(existsSync(file)).toBe(false);
  });

  test('none is served as local, whose commands the machine of the agents takes', async () => {
    const host = new RemoteHost('local', engine.server().address);
    try {
      await expect(host.serve()).rejects.toThrow(/local is the machine beside the agents/);
    } finally {
      await host.end();
    }
  });

  testEachOf(
    [
      [
        'reset as a text',
        { runtime: 'terminal', code: 'true', reset: 'false' },
        'got "false", allowed true or false',
      ],
      ['an unknown runtime', { runtime: 'shell', code: 'true' }, 'runtime'],
      ['no code', { runtime: 'python' }, '"code"'],
      ['another argument', { runtime: 'terminal', code: 'true', host: 'x' }, 'host'],
      ['reset beside output', { runtime: 'output', reset: true }, '"reset"'],
    ] as [string, object, string][],
    ([what]) => what.startsWith('reset'),
  )('%s is a validation error that names it', async (_what, args, named) => {
    const result = await remote(args);
    expect(result).toEqual(error('invalid_input'));
    expect(result.content).toContain(named);
  });
});

describe('with one host', () => {
  beforeAll(async () => {
    await pi.serve();
    await untilListed('pi');
  }, 30_000);

  test('code runs on the only host online, and its paths are that machine’s', async () => {
    writeFileSync(join(pi.root, 'here.txt'), 'on the pi');
    const { content } = await remote(run('pwd; cat here.txt'));
    expect(content).toMatch(`[host pi]\n${pi.root}\non the pi`);
    expect(pi.open()).toHaveLength(1);
  });

  test.each([
    ['python', 'import os; print(os.getcwd())'],
    ['nodejs', 'console.log(process.cwd())'],
  ])('runtime %s runs in the host’s own folder', async (runtime, code) => {
    expect((await remote({ runtime, code })).content).toContain(pi.root);
  });

  test('reset true ends what runs and runs the code in a fresh shell, in one step', async () => {
    const id = uniqueId('replace');
    const session = engine.client.session({ agent: id, host: 'pi', session: 0 });
    const before = session.exec({ code: 'sleep 4321', yield: QUICK_YIELD });
    expect(await before).toMatchObject({ state: 'running' });
    await expect(session.exec({ code: 'echo no' })).rejects.toMatchObject({ code: 'busy' });
    const view = await session.exec({ code: 'echo fresh', reset: true });
    expect(view).toMatchObject({ output: 'fresh\n', exitCode: 0, epoch: 2, state: 'exited' });
    expect(await session.state()).toMatchObject({ status: 'idle', view: { output: 'fresh\n' } });
  });

  test('output shows what is new and reset ends it, with the given reason', async () => {
    const id = uniqueId('look');
    const replies = [
      { text: call('code_execution_remote', run('echo one; read x; echo $x')) },
      { text: call('input', { keyboard: 'two', host: 'pi' }) },
      { text: call('code_execution_remote', run('sleep 4322')) },
      { text: call('code_execution_remote', { runtime: 'reset', reason: 'it hangs' }) },
      { text: 'done' },
    ];
    const agent = engine.client.agent(id);
    await agent.start({ task: 'go', model: files.model(replies), yield: QUICK_YIELD });
    await agent.result();
    const turn = (await engine.client.temporal.workflow
      .getHandle(turnWorkflowId(id, 1))
      .result()) as TurnResult;
    const said = turn.messages.flatMap((message) => (message.role === 'tool' ? [message.content] : []));
    expect(said[0]).toMatch(/one\n\[waiting for input/);
    expect(said[1]).toMatch(/two\n\[exit code 0/);
    expect(said[3]).toMatch(/ended by reset: it hangs/);
    // An agent that ends closes its sessions, wherever they are.
    expect(pi.open().filter(({ agent: owner }) => owner === id)).toEqual([]);
  });

  test('a read-only host shows output and ends what runs, and refuses the rest at its own door', async () => {
    const id = uniqueId('access');
    const session = engine.client.session({ agent: id, host: 'pi', session: 0 });
    await session.exec({ code: 'echo before; sleep 4323', yield: QUICK_YIELD });
    await pi.cli('host', 'access', 'pi', 'read-only');
    const { file, args } = touch();
    // The server may not know of it yet: the host does.
    expect(await remote(args, { remoteHost: 'pi' })).toEqual(error('read_only_host'));
    await expect(session.input({ keyboard: 'x' })).rejects.toMatchObject({ code: 'read_only_host' });
    expect(existsSync(file)).toBe(false);
    expect((await session.output()).output).toBe('before\n');
    expect(await session.reset({ reason: 'enough' })).toMatchObject({ killedBy: { by: 'reset' } });
    await pi.cli('host', 'access', 'pi', 'off');
    await expect(session.output()).rejects.toMatchObject({ code: 'execution_disabled' });
    expect(await remote(args, { remoteHost: 'pi' })).toEqual(error('execution_disabled'));
    await pi.cli('host', 'access', 'pi', 'read-write');
    expect((await session.exec({ code: 'echo again' })).output).toBe('again\n');
    const audit = readFileSync(join(pi.dataDir, 'audit.pi.jsonl'), 'utf8');
    expect(audit).toMatch(/"what":"sendInput","outcome":"refused","why":"read_only_host"/);
  }, 30_000);

  test('tools that write on a read-only host are refused, tools that read are not', async () => {
    writeFileSync(join(pi.root, 'read.txt'), 'readable');
    await pi.cli('host', 'access', 'pi', 'read-only');
    const agent = engine.client.agent(uniqueId('tools'));
    const path = join(pi.root, 'written.txt');
    const replies = [
      { text: call('write_file', { file_path: path, content: 'x' }) },
      { text: call('read_file', { file_path: join(pi.root, 'read.txt') }) },
      { text: 'done' },
    ];
    await agent.start({ task: 'go', model: files.model(replies), host: 'pi' });
    await agent.result();
    const turn = (await engine.client.temporal.workflow
      .getHandle(turnWorkflowId(agent.id, 1))
      .result()) as TurnResult;
    const said = turn.messages.filter((message) => message.role === 'tool');
    expect(said[0]).toEqual(error('read_only_host'));
    expect(said[1]).toMatchObject({ isError: false, content: expect.stringContaining('readable') as string });
    expect(existsSync(path)).toBe(false);
    await pi.cli('host', 'access', 'pi', 'read-write');
  });

  test('two hosts online are ambiguous, and both are named', async () => {
    await laptop.serve('--access', 'read-only');
    await untilListed('laptop');
    const { file, args } = touch();
    const result = await remote(args);
    expect(result).toEqual(error('ambiguous_host'));
    expect(result.content).toContain('laptop, pi');
    expect(existsSync(file)).toBe(false);
    // One that is bound to one of them goes there.
    expect((await remote(run('pwd'), { remoteHost: 'pi' })).content).toContain(pi.root);
  }, 30_000);

  test('a stopped host is offline at once, and a killed one within seconds; both say why', async () => {
    await laptop.kill('SIGTERM');
    await untilStatus('laptop', 'offline');
    expect(await stateOf('laptop')).toMatchObject({
      reason: 'it was stopped',
      facts: { access: 'read-only' },
    });
    const id = uniqueId('left');
    await engine.client.session({ agent: id, host: 'pi', session: 0 }).exec({
      code: 'sleep 4325',
      yield: { firstOutputMs: 500, betweenOutputMs: 500 },
    });
    await pi.kill();
    await untilStatus('pi', 'offline');
    expect(await stateOf('pi')).toMatchObject({ reason: 'it is silent' });
    // What runs there may have ended meanwhile.
    const { stdout } = await engine.cliInTurn(['ps']);
    expect(stdout).toMatch(new RegExp(`exec/${id}/pi/0 .* host pi is offline, last known: running`));
    const { file, args } = touch();
    expect(await remote(args, { remoteHost: 'pi' })).toEqual(error('host_offline'));
    expect(await remote(args)).toEqual(error('no_remote_host'));
    expect(existsSync(file)).toBe(false);
    await pi.serve();
    await untilStatus('pi', 'online');
  }, 60_000);

  test('a host of another protocol is not asked', async () => {
    const { facts } = await stateOf('pi');
    if (!facts) throw new Error('no facts');
    const handle = engine.client.temporal.workflow.getHandle(hostWorkflowId('pi'));
    await handle.signal(HOST_MESSAGES.announce.name, { ...facts, protocol: 99 });
    const { file, args } = touch();
    expect(await remote(args, { remoteHost: 'pi' })).toEqual(error('protocol_mismatch'));
    expect(existsSync(file)).toBe(false);
    await handle.signal(HOST_MESSAGES.announce.name, facts);
  });

  test('a name that the folder has never served has neither access nor a token, and the doctor looks at the served host', async () => {
    for (const args of [
      ['access', 'nope', 'read-only'],
      ['token', 'nope'],
    ])
      await expect(pi.cli('host', ...args)).rejects.toThrow(/got nope, allowed pi;/);
    const lines = new CommandLines();
    const env = { ...process.env, HOLDFAST_DATA: pi.dataDir, NO_COLOR: '1' };
    const { stdout } = await lines.run(['doctor', '--address', engine.server().address], { cwd: '/', env });
    lines.end();
    expect(stdout).toContain('a process serves host pi');
    expect(stdout).not.toContain('no worker polls host.');
  }, 40_000);

  test('a host that does not answer is named beside the list of the others', async () => {
    const { facts } = await stateOf('pi');
    if (!facts) throw new Error('no facts');
    const { temporal, address } = engine.client;
    await new HoldfastClient(temporal, address, { queue: 'nobody' }).hosts.announce('ghost', facts);
    const listed = (): Promise<CliResult> => engine.cliInTurn(['host', 'ls', '--json']);
    await until(async () => (await listed()).stderr !== '');
    const { code, stdout, stderr } = await listed();
    expect(code).toBe(0);
    expect((JSON.parse(stdout) as HostState[]).map(({ host }) => host)).toEqual(['laptop', 'pi']);
    expect(JSON.parse(stderr)).toEqual({ unanswered: ['ghost'] });
    await temporal.workflow.getHandle(hostWorkflowId('ghost')).terminate('test ended');
  }, 40_000);

  test('while the worker of the agents is frozen, the list of hosts is an error and not empty', async () => {
    const { pid } = runningWorker(engine.dataDir)?.identity ?? { pid: 0 };
    process.kill(pid, 'SIGSTOP');
    try {
      const { code, stdout, stderr } = await engine.cliInTurn(['host', 'ls']);
      expect([code, stdout]).toEqual([69, '']);
      expect(stderr).toContain(`The worker ${pid} does not answer`);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    expect((await engine.client.hosts.list()).map(({ host }) => host)).toEqual(['laptop', 'pi']);
  }, 40_000);

  test('a machine with the name of an online host does not take its place', async () => {
    const thief = new RemoteHost('pi', engine.server().address);
    await expect(thief.serve()).rejects.toThrow(/host_taken/);
    await thief.end();
  }, 40_000);
});

// Last: a host that ends as soon as it has begun is missed only after some seconds.
describe.each(NODES)('under Node %s', (version, node) => {
  // One each: the command line passes on the signal to a newer Node, or is one.
  const usual = version === NODES[0]?.[0] ? 'SIGTERM' : 'SIGINT';
  testEachOf<[NodeJS.Signals]>([['SIGINT'], ['SIGTERM']], ([signal]) => signal === usual)(
    'host serve ends at %s, and with 0',
    async (signal) => {
      const host = new RemoteHost(
        `ends-${signal.toLowerCase()}-${version.replaceAll('.', '-')}`,
        engine.server().address,
        [],
        node,
      );
      try {
        await host.serve();
        expect(await host.kill(signal)).toBe(0);
      } finally {
        await host.end();
      }
    },
  );
});

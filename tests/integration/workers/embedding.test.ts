// Holdfast embedded in another process: on a server without any other worker.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Worker } from '@temporalio/worker';
import { isGrpcServiceError } from '@temporalio/client';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import { HoldfastClient } from '../../../client/holdfast-client';
import { packageRoot } from '../../../system/package-root';
import { detectTreeKill } from '../../../exec/processes/process-tree';
import { SessionHost } from '../../../exec/host/session-host';
import { quietenRuntime } from '../../../testing/quiet-runtime';
import { createWorkers, type WorkersOptions } from '../../../workers';
import type { Workers, WorkersReady } from '../../../workers';
import { EngineOfItsOwn, processesNaming } from '../../helpers/engines/engine-of-its-own';
import { testEachOf } from '../../helpers/run/long-run';
import { call, QUICK_YIELD, scratch, uniqueId, type Scratch } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const workflowsPath = join(packageRoot(), 'examples', 'child-agent-workflow.ts');

const engine = new EngineOfItsOwn({ ownServer: true });
let client: HoldfastClient;
let connection: NativeConnection;
let files: Scratch;
let address: string;

beforeAll(async () => {
  quietenRuntime();
  files = scratch();
  ({ address } = await engine.startServer());
  client = await HoldfastClient.connect({ address }, {});
  connection = await NativeConnection.connect({ address });
}, 60_000);
afterAll(async () => {
  await client.close();
  // First, so that a test that failed half-way leaves no process.
  const left = await engine.end();
  files.remove();
  expect(left).toEqual([]);
  await connection.close();
}, 60_000);

interface Serving {
  ready: WorkersReady;
  workers: Workers;
  end(): Promise<void>;
}

/** Resolves when the workers poll and have taken over existing work. */
async function serve(options: Partial<WorkersOptions> = {}): Promise<Serving> {
  const workers = await createWorkers({ connection, dataDir: engine.dataDir, ...options });
  let running: Promise<void> | undefined;
  const ready = await new Promise<WorkersReady>((onReady, failed) => {
    running = workers.run({ onReady });
    running.catch(failed);
  });
  const end = async (): Promise<void> => {
    workers.shutdown();
    await running;
  };
  return { ready, workers, end };
}

const exec = (args: object): { text: string } => ({ text: call('code_execution_tool', args) });

test('an agent as a child adds no workflow, no schema and no Node module to its parent’s bundle', async () => {
  const { code } = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') });
  const bundle = code.split('//# sourceMappingURL')[0] ?? '';
  expect(bundle).toContain('dist/workflows/children.js');
  for (const forbidden of [
    'node_modules/zod/',
    'dist/workflows/agent/agent.js',
    'dist/client/',
    'dist/exec/',
  ])
    expect([forbidden, bundle.includes(forbidden)]).toEqual([forbidden, false]);
}, 60_000);

describe('an agent as a child', () => {
  let serving: Serving;
  let worker: Worker;
  let running: Promise<void>;
  beforeAll(async () => {
    serving = await serve();
    worker = await Worker.create({ connection, taskQueue: 'releases', workflowsPath });
    running = worker.run();
  }, 60_000);
  afterAll(async () => {
    worker.shutdown();
    await running;
    await serving.end();
  });

  const release = (version: string, model: string): ReturnType<typeof client.temporal.workflow.start> =>
    client.temporal.workflow.start('release', {
      taskQueue: 'releases',
      workflowId: `release/${version}`,
      args: [{ version, model }],
    });

  test('is cancelled with its parent: its sessions close before the parent has ended', async () => {
    const version = uniqueId('v');
    const replies = [exec({ runtime: 'terminal', code: 'sleep 1000' }), { text: 'late', delayMs: 600_000 }];
    const parent = await release(version, files.model(replies));
    const agent = client.agent(`release-${version}`);
    const session = client.session({ agent: agent.id, session: 0 });
    await until(async () => (await untilFound(() => session.output())).commandId !== null);
    await parent.cancel();
    await expect(parent.result()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
    expect(await session.state()).toMatchObject({ status: 'closed', view: { killedBy: { by: 'closed' } } });
    const handle = client.temporal.workflow.getHandle(agent.workflowId);
    expect(await handle.describe()).toMatchObject({ status: { name: 'CANCELLED' } });
  }, 60_000);

  test('that fails tells its parent the code of the catalogue', async () => {
    const parent = await release(uniqueId('v'), 'scripted:/absent.yaml');
    expect(await parent.result()).toMatch(/could not be tested: model_script_invalid$/);
  }, 60_000);

  test('with an invalid id is an error for its parent, not a task that fails forever', async () => {
    const parent = await release('No Version', 'scripted:x');
    expect(await parent.result()).toBe('No Version could not be tested: invalid_input');
  }, 60_000);
});

/** The agent's first command opens its session: before that there is none to speak to. */
async function untilFound<T>(look: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await look();
    } catch (err) {
      if ((err as { code?: string }).code !== 'not_found') throw err;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

test('workers that are shut down leave the command running, and the next ones follow it to its end', async () => {
  const first = await serve();
  const session = client.session({ agent: uniqueId('a'), session: 0 }, { yield: QUICK_YIELD });
  await session.exec({ code: 'read -r x; echo "got $x"', id: 'asked' });
  await first.end();
  const host = new SessionHost({ dataDir: engine.dataDir, cwd: '/', env: {}, treeKill: detectTreeKill() });
  expect(host.isOpen(session.ref)).toBe(true);
  const second = await serve();
  expect(second.ready.adopted).toBe(1);
  expect(await session.input({ keyboard: 'it' })).toMatchObject({ state: 'exited', commandId: 'asked' });
  await session.close('test ended');
  await session.closed();
  await second.end();
}, 60_000);

test('a second worker for the same host and data folder is refused, and the first continues', async () => {
  const serving = await serve();
  await expect(serve()).rejects.toMatchObject({ code: 'worker_running', facts: { host: 'local' } });
  const session = client.session({ agent: uniqueId('a'), session: 0 });
  expect(await session.exec({ code: 'echo on' })).toMatchObject({ output: 'on\n' });
  await session.close('test ended');
  await session.closed();
  await serving.end();
}, 60_000);

test('workers that are shut down before they run end at once and release the host', async () => {
  const workers = await createWorkers({ connection, dataDir: engine.dataDir });
  workers.shutdown();
  await workers.run();
  const serving = await serve();
  await serving.end();
}, 60_000);

test('workers that lose their host before they run release it, and `run` throws why', async () => {
  const workers = await createWorkers({ connection, dataDir: engine.dataDir });
  const lost = new HoldfastError('internal', { reason: 'the host was lost' });
  workers.fail(lost);
  await expect(workers.run()).rejects.toBe(lost);
  await using next = await createWorkers({ connection, dataDir: engine.dataDir });
  expect(next.client).toBeDefined();
});

testEachOf([['shutdown'], ['close']] as [string][], ([how]) => how === 'close')(
  'a process that made workers and never ran them ends by itself after %s(), and leaves nothing',
  async (how) => {
    const dataDir = mkdtempSync(join(files.directory, 'unused-'));
    const code = `const [address, dataDir, how] = process.argv.slice(1);
      require(${JSON.stringify(join(packageRoot(), 'dist', 'workers'))})
        .createWorkers({ address, dataDir }).then((workers) => workers[how]());`;
    const args = ['-e', code, address, dataDir, how];
    // Most of the time is that to load what it needs, on a busy machine.
    await promisify(execFile)(process.execPath, args, { timeout: 50_000 });
    expect(processesNaming(dataDir)).toEqual([]);
    expect(readdirSync(join(dataDir, 'tasks'))).toEqual([]);
  },
  60_000,
);

test('workers may be closed at any time and again, and `await using` closes them', async () => {
  const own = { connection: undefined, address };
  {
    await using workers = await createWorkers({ ...own, dataDir: engine.dataDir });
    await workers.close();
    await workers.close();
    await workers.run();
  }
  const serving = await serve(own);
  await Promise.all([serving.workers.close(), serving.workers.close(), serving.end()]);
  await (await serve()).end();
}, 60_000);

test('if not all of the workers can be made, those that were are released', async () => {
  const own = await NativeConnection.connect({ address });
  const workdir = join(files.model([]).replace('scripted:', ''), 'below-a-file');
  const options = { connection: own, dataDir: engine.dataDir, workdir };
  await expect(createWorkers(options)).rejects.toMatchObject({ code: 'storage_failed' });
  // Refused while a worker holds it.
  await own.close();
  await (await serve()).end();
}, 60_000);

test('workers whose shells would begin among what Holdfast keeps are refused', async () => {
  for (const workdir of [engine.dataDir, join(engine.dataDir, 'sessions')])
    await expect(createWorkers({ connection, dataDir: engine.dataDir, workdir })).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining(`got ${workdir}, where Holdfast keeps its own files`) as string,
    });
});

test('workers whose start fails end all together, and another may have the host', async () => {
  const workers = await createWorkers({ connection, dataDir: engine.dataDir });
  const onReady = (): never => {
    throw new Error('the disk is full');
  };
  await expect(workers.run({ onReady })).rejects.toThrow('the disk is full');
  await (await serve()).end();
}, 60_000);

test('shells get the variables of `env` and the working folder, and nothing else of the process', async () => {
  process.env.SECRET_OF_THE_PROCESS = 'leaked';
  const workdir = join(files.directory, 'shells');
  mkdirSync(workdir);
  const serving = await serve({ env: { OWN: 'mine' }, workdir });
  const session = client.session({ agent: uniqueId('a'), session: 0 });
  const { output } = await session.exec({ code: 'echo "$OWN,$SECRET_OF_THE_PROCESS"; pwd' });
  expect(output).toBe(`mine,\n${workdir}\n`);
  await session.close('test ended');
  await session.closed();
  await serving.end();
  delete process.env.SECRET_OF_THE_PROCESS;
}, 60_000);

test('without a host the workers serve agents, next to the worker that has the host', async () => {
  const { dataDir } = engine;
  const own = await NativeConnection.connect({ address });
  const [all, agents] = [await serve(), await serve({ connection: own, dataDir, host: null })];
  await all.end();
  const agent = client.agent(uniqueId('a'));
  await agent.start({ task: 'x', model: files.model([{ text: 'done' }]) });
  expect(await agent.result()).toMatchObject({ answer: 'done' });
  await agents.end();
  await own.close();
}, 60_000);

test('a faulty tool is refused before anything is connected', async () => {
  const nowhere = { connection: undefined, address: '127.0.0.1:1', dataDir: join(files.directory, 'none') };
  const tools = [{ name: 'x' } as never];
  await expect(createWorkers({ ...nowhere, tools })).rejects.toMatchObject({
    code: 'tool_invalid',
  });
});

testEachOf(
  [
    ['workers', 'createWorkers({ dataDir: process.argv[1] })'],
    ['testing', 'HoldfastTestEnvironment.createLocal()'],
    ['testing', 'HoldfastTestEnvironment.createTimeSkipping()'],
  ] as [string, string][],
  ([, made]) => !made.includes('TimeSkipping'),
)('on an older Node holdfast/%s can be imported, and %s says which Node it takes', async (entry, made) => {
  // What an older Node says of itself, and has not.
  const code = `
    Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } });
    const { Module } = require('node:module');
    const load = Module._load;
    Module._load = (name, ...rest) => {
      if (name === 'node:sqlite') throw new Error('No such built-in module: node:sqlite');
      return load(name, ...rest);
    };
    const holdfast = require(${JSON.stringify(join(packageRoot(), 'dist', entry))});
    holdfast.${made}.catch((err) => console.log(err.code, err.facts));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', code, join(files.directory, 'old')]);
  expect(stdout).toBe("node_too_old { got: '20.20.2', allowed: '22.13 or newer' }\n");
});

test('a client on the worker’s own connection tells errors apart as any other does', async () => {
  const serving = await serve({ host: null });
  const missing = serving.workers.client.agent('nobody').state();
  await expect(missing).rejects.toMatchObject({ code: 'not_found' });
  const unknown = serving.workers.client.temporal.workflowService.describeNamespace({ namespace: 'nowhere' });
  expect(isGrpcServiceError(await unknown.catch((err: unknown) => err))).toBe(true);
  await serving.end();
}, 60_000);

// Two data folders on one server: two machines, two people, two releases. Each task queue belongs to one of them.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HoldfastClient } from '../../../client/holdfast-client';
import type { CommandView } from '../../../contracts/sessions/session';
import { claimWorkflowId } from '../../../contracts/sessions/claims';
import { agentWorkflowId, hostTaskQueue, turnWorkflowId, sessionWorkflowId } from '../../../contracts/ids';
import { isAlive } from '../../../system/processes/process-identity';
import { quietenRuntime } from '../../../testing/quiet-runtime';
import { createWorkers, type Workers, type WorkersOptions } from '../../../workers';
import { findSilentWorker, runningWorker } from '../../../workers/process/worker-record';
import { endDataFolder } from '../../helpers/engines/end-data-folder';
import { CommandLines, type CliResult } from '../../helpers/engines/command-lines';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { call, scratch, uniqueId } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const TOOLS = join(__dirname, '..', '..', 'fixtures', 'script-tools.mjs');

/** A few processes for all command lines; the tests here run at once. */
const LANES = Array.from({ length: 4 }, () => new CommandLines());

/** A separate data folder, as another person would have. */
class Folder {
  readonly dataDir = mkdtempSync(join(tmpdir(), 'holdfast-second-'));

  constructor(
    private readonly address: () => string,
    private readonly lane: CommandLines,
  ) {}

  cli(...args: string[]): Promise<CliResult> {
    const env: NodeJS.ProcessEnv = { ...process.env, HOLDFAST_DATA: this.dataDir, NO_COLOR: '1' };
    delete env.TEMPORAL_ADDRESS;
    return this.lane.run([...args, '--address', this.address()], { cwd: process.cwd(), env });
  }

  /** Throws its output if it did not start. */
  async up(...args: string[]): Promise<{ workerPid: number; host: string | null; queue: string }> {
    const { code, stdout, stderr } = await this.cli('up', '--json', ...args);
    if (code !== 0) throw new Error(stderr);
    return JSON.parse(stdout) as { workerPid: number; host: string | null; queue: string };
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const worker = runningWorker(this.dataDir);
    if (!worker) throw new Error('no worker');
    process.kill(worker.identity.pid, signal);
    if (signal === 'SIGKILL') await until(() => !isAlive(worker.identity));
  }

  async end(): Promise<void> {
    await endDataFolder(this.dataDir);
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}

jest.setTimeout(120_000);

const engine = new EngineOfItsOwn();
const files = scratch();
const folders: Folder[] = [];
const folder = (): Folder => {
  const lane = LANES[folders.length % LANES.length] as CommandLines;
  const one = new Folder(() => engine.server().address, lane);
  folders.push(one);
  return one;
};

beforeAll(() => {
  quietenRuntime();
  return engine.start();
}, 60_000);
afterAll(async () => {
  await Promise.all(folders.map((one) => one.end()));
  for (const lane of LANES) lane.end();
  const left = await engine.end();
  files.remove();
  expect(left).toEqual([]);
}, 60_000);

/** Throws its output if there is none. */
function view({ stdout, stderr }: CliResult): CommandView {
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as CommandView;
}

// At once: these wait more than they work.
test.concurrent(
  'a host is refused to a second data folder, with the first one named, before it takes any of its commands',
  async () => {
    const [first, second] = [folder(), folder()];
    await first.up('--host', 'alpha');
    const { code, stderr } = await second.cli('up', '--host', 'alpha');
    expect(code).toBe(75);
    expect(stderr).toContain('host_taken');
    expect(stderr).toContain(first.dataDir);
    expect(stderr).toContain('--host NAME');
    expect(runningWorker(second.dataDir)).toBeUndefined();
    // As before, whichever of the two would have been asked.
    for (let n = 1; n <= 4; n++)
      expect(view(await first.cli('exec', '--json', 'count=$((count + 1)); echo A$count')).output).toBe(
        `A${n}\n`,
      );
  },
);

test.concurrent(
  'a host of a server of others has the machine’s own name, and commands go to the one of their data folder',
  async () => {
    const first = folder();
    const { host } = await first.up();
    expect(host).not.toBe('local');
    const { output } = view(await first.cli('exec', '--json', 'pwd'));
    expect(output.trim()).toBe(join(first.dataDir, 'work'));
    const { code, stderr } = await folder().cli('up', '--host', 'local');
    expect([code, stderr]).toEqual([64, expect.stringContaining('allowed any name but local')]);
  },
);

test.concurrent(
  'a host that another data folder took over does not run an open command of the first one again',
  async () => {
    const [first, second] = [folder(), folder()];
    const marker = join(files.directory, uniqueId('ran'));
    await first.up('--host', 'beta');
    const args = ['exec', '--host', 'beta', '--json', '--yield-ms', '500'];
    await first.cli(...args, `echo ran >> ${marker}; sleep 300`);
    await first.kill();
    await first.cli('host', 'forget', 'beta');
    await second.up('--host', 'beta');
    const ref = { agent: 'cli', host: 'beta', session: 0 };
    const session = engine.client.session(ref);
    // The command was handed over again by now: the second one refused it.
    await until(async () => (await session.state()).command === null);
    expect(readFileSync(marker, 'utf8')).toBe('ran\n');
    await expect(session.exec({ code: 'echo again' })).rejects.toMatchObject({ code: 'session_elsewhere' });
    await session.close('it is elsewhere');
    await session.closed();
    expect((await session.exec({ code: 'echo anew' })).output).toBe('anew\n');
    expect(readFileSync(marker, 'utf8')).toBe('ran\n');
    // The first one may not come back under this name.
    await expect(first.up('--host', 'beta')).rejects.toThrow(/host_taken/);
  },
);

test.concurrent(
  'a host frozen while another data folder took it over types nothing when it resumes, and ends',
  async () => {
    const [first, second] = [folder(), folder()];
    const { workerPid } = await first.up('--host', 'gamma');
    await first.kill('SIGSTOP');
    await second.cli('host', 'forget', 'gamma');
    await second.up('--host', 'gamma');
    const frozen = runningWorker(first.dataDir);
    // Some of these are handed to the frozen one, which asks for them still.
    const commands = [1, 2, 3, 4].map((session) =>
      engine.client.session({ agent: 'cli', host: 'gamma', session }).exec({ code: 'pwd' }),
    );
    process.kill(workerPid, 'SIGCONT');
    const outputs = (await Promise.all(commands)).map(({ output }) => output.trim());
    expect(outputs).toEqual(outputs.map(() => join(second.dataDir, 'work')));
    expect(existsSync(join(first.dataDir, 'sessions'))).toBe(false);
    await until(() => !frozen || !isAlive(frozen.identity));
    expect(readFileSync(join(first.dataDir, 'worker.log'), 'utf8')).toContain('host_taken');
  },
);

test.concurrent('a host is free again once its claim was cancelled by an operator', async () => {
  const [first, second] = [folder(), folder()];
  await first.up('--host', 'delta');
  await first.kill();
  const claim = engine.client.temporal.workflow.getHandle(claimWorkflowId(hostTaskQueue('delta')));
  await claim.cancel();
  await until(async () => (await claim.describe()).status.name === 'CANCELLED');
  expect((await second.up('--host', 'delta')).host).toBe('delta');
});

test.concurrent(
  'a worker stopped by a signal is reported as such by up, exec, approve and doctor, and --replace starts another that answers',
  async () => {
    const second = folder();
    const { workerPid } = await second.up('--host', 'zeta', '--queue', 'zeta');
    const one = await second.cli('exec', '--json', 'echo before');
    expect(view(one).output).toBe('before\n');
    await second.kill('SIGSTOP');
    await until(() => findSilentWorker(second.dataDir)?.code === 'worker_silent');
    const [up, exec, approve, doctor] = await Promise.all([
      second.cli('up'),
      second.cli('exec', '--json', 'echo after'),
      second.cli('approve'),
      second.cli('doctor'),
    ]);
    for (const { code, stderr } of [up, exec, approve]) {
      expect(code).toBe(69);
      expect(stderr).toContain(`The worker ${workerPid} does not answer: it is stopped by a signal`);
      expect(stderr).toContain('holdfast up --replace');
    }
    expect(doctor.stdout).toMatch(new RegExp(`fail +worker +pid ${workerPid} does not respond`));
    // A remote client sees only the server: the worker took a task before its polls were given up, or no worker polls.
    const elsewhere = new HoldfastClient(engine.client.temporal, engine.client.address, { queue: 'zeta' });
    const session = elsewhere.session({ agent: 'cli', host: 'zeta', session: 0 });
    const answers = await Promise.allSettled([session.output(), session.state()]);
    const gone = { code: expect.stringMatching(/^(?:worker_silent|no_worker)$/) as string };
    expect(answers).toEqual(
      answers.map(() => ({ status: 'rejected', reason: expect.objectContaining(gone) as unknown })),
    );
    const next = await second.up('--host', 'zeta', '--replace');
    expect(next.workerPid).not.toBe(workerPid);
    expect(view(await second.cli('exec', '--json', '--session', '1', 'echo now')).output).toBe('now\n');
  },
);

describe('a queue of agents', () => {
  test('takes a second worker that offers the same', async () => {
    const second = folder();
    expect((await second.up('--agents-only')).host).toBeNull();
    expect((await second.cli('up', '--agents-only')).stdout).toContain('serves only agents');
  });

  test('refuses a second worker with other tools, names them, and takes it with --join', async () => {
    const second = folder();
    const { code, stderr } = await second.cli('up', '--agents-only', '--tools', TOOLS);
    expect(code).toBe(75);
    expect(stderr).toContain('queue_taken');
    expect(stderr).toMatch(/tool \w+ \(only here\)/);
    expect(stderr).toContain(engine.dataDir);
    expect((await second.up('--agents-only', '--tools', TOOLS, '--join')).queue).toBe('holdfast');
  });

  test('refuses a second worker with another policy, and says what differs', async () => {
    const second = folder();
    writeFileSync(join(second.dataDir, 'holdfast.toml'), '[policy.rules]\ndestructive = "allow"\n');
    await expect(second.up('--agents-only')).rejects.toThrow(
      /policy rule destructive \(ask there, allow here\)/,
    );
  });

  test('of its own accepts any worker, and an agent stays on it with its turns and sessions', async () => {
    const second = folder();
    expect((await second.up('--host', 'epsilon', '--tools', TOOLS, '--queue', 'lab')).queue).toBe('lab');
    const model = files.model([
      { text: call('code_execution_tool', { runtime: 'terminal', code: 'pwd' }) },
      { text: 'done' },
    ]);
    const id = uniqueId('lab');
    const { code, stderr } = await second.cli(
      'run',
      'go',
      '--model',
      model,
      '--agent',
      id,
      '--keep',
      '--json',
    );
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    const session = sessionWorkflowId({ agent: id, host: 'epsilon', session: 0 });
    for (const workflowId of [agentWorkflowId(id), turnWorkflowId(id, 1), session]) {
      const { taskQueue } = await engine.client.temporal.workflow.getHandle(workflowId).describe();
      expect([workflowId, taskQueue]).toEqual([workflowId, 'lab']);
    }
  });

  test('and a host that are taken leave the worker that was to be replaced running', async () => {
    const second = folder();
    await second.up('--agents-only', '--queue', 'solo');
    // Only the worker that goes has another offer.
    const { workerPid } = await second.up('--agents-only', '--queue', 'solo', '--tools', TOOLS);
    for (const [code, ...args] of [
      ['queue_taken', '--agents-only', '--queue', 'holdfast'],
      ['host_taken', '--host', 'epsilon', '--queue', 'solo'],
    ] as const) {
      const { stderr } = await second.cli('up', ...args);
      expect(stderr).toContain(code);
      expect(stderr).toContain(`${workerPid}`);
      expect(runningWorker(second.dataDir)?.identity.pid).toBe(workerPid);
    }
  });

  test('is refused to workers in your own process as to those of the command line', async () => {
    const own: Partial<WorkersOptions> = { host: null, queue: 'embedded' };
    const { address } = engine.server();
    const made: Workers[] = [];
    const make = async (options: Partial<WorkersOptions>): Promise<Workers> => {
      const workers = await createWorkers({ address, dataDir: folder().dataDir, ...own, ...options });
      made.push(workers);
      return workers;
    };
    const mine = { mine: () => ({ call: () => Promise.reject(new Error('never asked')) }) } as never;
    try {
      await make({ models: mine });
      await make({ models: mine });
      await expect(make({})).rejects.toMatchObject({
        code: 'queue_taken',
        facts: { differences: 'model provider mine (only there)' },
      });
      await make({ join: true });
      await expect(make({ host: 'alpha', agents: false })).rejects.toMatchObject({ code: 'host_taken' });
      await Promise.all(made.splice(0).map((workers) => workers.close()));
      // The last one has left: the queue is free for others.
      await make({});
    } finally {
      await Promise.all(made.map((workers) => workers.close()));
    }
  });
});

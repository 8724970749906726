// One data folder and several who use it: machines that mount it from a network, a copy, processes of one machine.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CLAIM_MEMO, claimWorkflowId, folderKey, type ClaimFacts } from '../../../contracts/sessions/claims';
import type { CommandView } from '../../../contracts/sessions/session';
import { dataFolderId } from '../../../exec/host/data-folder';
import { quietenRuntime } from '../../../testing/quiet-runtime';
import { createWorkers } from '../../../workers';
import { ensureWorker } from '../../../workers/process/worker-process';
import { endDataFolder } from '../../helpers/engines/end-data-folder';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { Machine } from '../../helpers/hosts/machine';
import { noNetworkLink } from '../../helpers/hosts/network-link';
import { until } from '../../helpers/until';

const missing = noNetworkLink();
const whereMachines = missing === undefined ? describe : describe.skip;

jest.setTimeout(120_000);

const engine = new EngineOfItsOwn();
const folders: string[] = [];
const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), 'holdfast-shared-'));
  folders.push(made);
  return made;
};

beforeAll(async () => {
  quietenRuntime();
  await engine.startServer();
  await engine.connect();
}, 60_000);
afterAll(async () => {
  for (const each of folders) {
    await endDataFolder(each);
    rmSync(each, { recursive: true, force: true });
  }
  expect(await engine.end()).toEqual([]);
}, 60_000);

const claimOf = (dataDir: string): ReturnType<typeof engine.client.temporal.workflow.getHandle> =>
  engine.client.temporal.workflow.getHandle(claimWorkflowId(folderKey(dataFolderId(dataDir))));

whereMachines(`a folder on a network’s file system${missing ? ` (not checked: ${missing})` : ''}`, () => {
  const LOCKS = ['worker.lock', 'worker.shared.lock'];
  const dataDir = folder();
  const one = new Machine('one', engine.namespace, dataDir, LOCKS);
  const two = new Machine('two', engine.namespace, dataDir, LOCKS);
  const up = ['up', '--host', 'shared'];
  const exec = async (machine: Machine, session: number): Promise<string> => {
    const args = ['exec', '--host', 'shared', '--session', String(session), '--json', 'hostname'];
    const { stdout, stderr } = await machine.cli(...args);
    if (stdout === '') throw new Error(stderr);
    return (JSON.parse(stdout) as CommandView).output.trim();
  };

  beforeAll(async () => {
    const port = Number(engine.server().address.split(':')[1]);
    await Promise.all([one, two].map((machine) => machine.open(port)));
  });
  afterAll(async () => {
    await Promise.all([one, two].map((machine) => machine.end()));
  });

  test('is refused to a second machine while the first one uses it, and the first one’s worker goes on', async () => {
    await one.up(...up.slice(1));
    const { code, stderr } = await two.cli(...up);
    expect([code, stderr]).toEqual([75, expect.stringContaining('folder_in_use')]);
    expect(stderr).toContain(`got ${dataDir} on two; used as ${dataDir} on one since`);
    const agents = await two.cli('up', '--agents-only');
    expect([agents.code, agents.stderr]).toEqual([75, expect.stringContaining('folder_in_use')]);
    expect(await exec(one, 0)).toBe('one');
  });

  test('is free for the second machine as soon as the first one’s worker has stopped', async () => {
    expect((await one.cli('down', '--sessions')).code).toBe(0);
    await two.up(...up.slice(1));
    expect(await exec(two, 1)).toBe('two');
    expect((await one.cli(...up)).stderr).toContain('folder_in_use');
  });

  test('a machine that was frozen while another took the folder does nothing when it is thawed, and ends', async () => {
    const frozen = two.worker;
    two.freeze();
    // As an operator does who knows that it will not come back.
    await claimOf(dataDir).terminate('two is gone');
    await one.up(...up.slice(1));
    const commands = [2, 3, 4].map((session) =>
      engine.client.session({ agent: 'shared', host: 'shared', session }).exec({ code: 'hostname' }),
    );
    two.thaw();
    const outputs = (await Promise.all(commands)).map(({ output }) => output.trim());
    expect(outputs).toEqual(['one', 'one', 'one']);
    await until(() => !two.pids.includes(frozen));
    expect(readFileSync(join(dataDir, 'worker.log'), 'utf8')).toContain('folder_in_use');
  });
});

test('a copy of a folder is refused while the original is used', async () => {
  const original = folder();
  const { address } = engine.server();
  const choice = { address, namespace: engine.namespace, env: process.env };
  await ensureWorker({ ...choice, dataDir: original, host: 'copied', queue: 'copied' });
  const copy = folder();
  execFileSync('cp', ['-a', `${original}/.`, copy]);
  for (const host of ['copied', 'other', null])
    await expect(ensureWorker({ ...choice, dataDir: copy, host, queue: 'copied' })).rejects.toMatchObject({
      code: 'folder_in_use',
    });
});

test('processes of one machine share a folder, and it stays claimed for as long as one of them lives', async () => {
  const dataDir = folder();
  const { address } = engine.server();
  const options = { dataDir, address, namespace: engine.namespace, queue: 'one-place' };
  const { identity } = await ensureWorker({ ...options, host: 'shares', env: process.env });
  const workers = await createWorkers({ ...options, host: null });
  try {
    const running = workers.run();
    const maker = async (): Promise<unknown> => {
      const { memo, status } = await claimOf(dataDir).describe();
      return status.name === 'RUNNING' && (memo?.[CLAIM_MEMO] as ClaimFacts).maker.pid;
    };
    expect(await maker()).toBe(identity.pid);
    process.kill(identity.pid, 'SIGKILL');
    await until(async () => (await maker()) === process.pid);
    await workers.close();
    await running;
    expect(await maker()).toBe(false);
  } finally {
    await workers.close();
  }
});

// `holdfast down` while something is being started: it ends that, too, and nothing begins afterwards.
import { once } from 'node:events';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Readable } from 'node:stream';
import { gatewayPaths } from '../../../gateway/gateway-record';
import { lastStarted } from '../../../system/processes/detached-process';
import { isAlive, type Identity } from '../../../system/processes/process-identity';
import { runningWorker, workerPaths } from '../../../workers/process/worker-record';
import { EngineOfItsOwn, processesNaming } from '../../helpers/engines/engine-of-its-own';
import { until } from '../../helpers/until';

let engine: EngineOfItsOwn;
beforeEach(async () => {
  engine = new EngineOfItsOwn({ ownServer: true });
  await engine.startServer();
}, 60_000);
afterEach(async () => expect(await engine.end()).toEqual([]), 60_000);

/** A worker loads this before it is ready, and then waits; returns when one has begun to. */
function slowTools(): { file: string; loading: () => Promise<void> } {
  const [file, begun] = [join(engine.dataDir, 'slow.mjs'), join(engine.dataDir, 'loading')];
  const wait = 'await new Promise((go) => setTimeout(go, 3_600_000));';
  writeFileSync(file, `import { writeFileSync } from 'node:fs'; writeFileSync('${begun}', ''); ${wait}`);
  return { file, loading: () => until(() => existsSync(begun)) };
}

const starting = (record: string): Promise<Identity> =>
  until(() => lastStarted(record) !== undefined).then(() => lastStarted(record) as Identity);

async function down(): Promise<unknown> {
  const { stdout, stderr } = await engine.cli(['down', '--json']);
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

test('a command whose worker is starting gets `engine_stopped`, no process is left, and the next `up` works', async () => {
  const { file, loading } = slowTools();
  const tools = join(engine.dataDir, 'tools.json');
  writeFileSync(tools, JSON.stringify([file]));
  const command = engine.spawnCli(['exec', '--json', 'echo hi']);
  const said = text(command.stderr as Readable);
  const ended = once(command, 'exit');
  await loading();
  expect(await down()).toMatchObject({ server: true, worker: true, problems: [] });
  expect(await ended).toEqual([75, null]);
  expect(JSON.parse(await said)).toMatchObject({
    error: { code: 'engine_stopped', facts: { starting: 'The worker' } },
  });
  expect(processesNaming(engine.dataDir)).toEqual([]);
  rmSync(tools);
  expect(await engine.cli(['up', '--no-serve'])).toMatchObject({ code: 0 });
}, 120_000);

test('a frozen worker whose `up` was killed while it started is ended by `down`', async () => {
  const { file, loading } = slowTools();
  const up = engine.spawnCli(['up', '--no-serve', '--tools', file]);
  await loading();
  const worker = await starting(workerPaths(engine.dataDir).started);
  up.kill('SIGKILL');
  process.kill(worker.pid, 'SIGSTOP');
  expect(await down()).toMatchObject({ server: true, worker: true, problems: [] });
  expect(processesNaming(engine.dataDir)).toEqual([]);
}, 120_000);

test('a worker whose starter was killed while it started gives way to that of the next command', async () => {
  const { file, loading } = slowTools();
  const up = engine.spawnCli(['up', '--no-serve', '--tools', file]);
  await loading();
  const worker = await starting(workerPaths(engine.dataDir).started);
  up.kill('SIGKILL');
  await once(up, 'exit');
  expect(await engine.cli(['exec', 'echo hi'])).toMatchObject({ stdout: 'hi\n', code: 0 });
  expect(isAlive(worker)).toBe(false);
}, 120_000);

test('a frozen gateway whose `up` was killed while it started is ended by `down`', async () => {
  const up = engine.spawnCli(['up', '--listen', '127.0.0.1:0']);
  const page = await starting(gatewayPaths(engine.dataDir).started);
  process.kill(page.pid, 'SIGSTOP');
  up.kill('SIGKILL');
  expect(await down()).toMatchObject({ server: true, worker: true, gateway: true, problems: [] });
  expect(processesNaming(engine.dataDir)).toEqual([]);
}, 120_000);

test('the worker that a gateway is starting again is ended by `down`', async () => {
  expect(await engine.cli(['up', '--listen', '127.0.0.1:0'])).toMatchObject({ code: 0 });
  const { file, loading } = slowTools();
  writeFileSync(join(engine.dataDir, 'tools.json'), JSON.stringify([file]));
  await engine.killWorker();
  await loading();
  expect(runningWorker(engine.dataDir)).toBeUndefined();
  expect(await down()).toMatchObject({ server: true, worker: true, gateway: true, problems: [] });
  expect(processesNaming(engine.dataDir)).toEqual([]);
}, 120_000);

test('the server of a command that was frozen while it started it is ended by `down`, and not started again', async () => {
  const before = engine.server();
  await engine.killServer();
  const command = engine.spawnCli(['exec', '--json', 'echo hi']);
  const said = text(command.stderr as Readable);
  await until(() => engine.server().identity.pid !== before.identity.pid);
  process.kill(command.pid as number, 'SIGSTOP');
  const { identity } = engine.server();
  expect(await down()).toMatchObject({ server: true, worker: false, problems: [] });
  expect(isAlive(identity)).toBe(false);
  process.kill(command.pid as number, 'SIGCONT');
  expect(JSON.parse(await said)).toMatchObject({
    error: { code: 'engine_stopped', facts: { starting: 'The Temporal server' } },
  });
  expect(processesNaming(engine.dataDir)).toEqual([]);
}, 120_000);

// The options of `up`, which the next start takes, too: whatever happens to `up`, to its worker or to their records.
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../system/package-root';
import {
  chosenConfig,
  recordedQueue,
  recordedTools,
  recordedWorkdir,
} from '../../../workers/configuration/recorded-choice';
import { lastWorker, runningWorker } from '../../../workers/process/worker-record';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { scratch } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const engine = new EngineOfItsOwn({ ownServer: true });
const files = scratch();
const inFolder = (name: string): string => join(engine.dataDir, name);
const [config, tools] = [inFolder('other.toml'), inFolder('own.mjs')];
const [begun, go] = [inFolder('begun'), inFolder('go')];
/** The worker loads it before it is ready. */
const SLOW = `import { existsSync, writeFileSync } from 'node:fs';
writeFileSync('${begun}', '');
while (!existsSync('${go}')) await new Promise((next) => setTimeout(next, 10));
export { tools } from '${join(packageRoot(), 'tests', 'fixtures', 'journal-tools.mjs')}';`;
const OPTIONS = ['--config', config, '--tools', tools, '--workdir', files.directory, '--queue', 'others'];

beforeAll(async () => {
  await engine.startServer();
  writeFileSync(config, '[log]\nlevel = "trace"\n');
  writeFileSync(tools, SLOW);
}, 60_000);
afterAll(async () => {
  expect(await engine.end()).toEqual([]);
  files.remove();
}, 60_000);

const choices = (): unknown => ({
  config: chosenConfig(engine.dataDir, undefined),
  tools: recordedTools(engine.dataDir),
  workdir: recordedWorkdir(engine.dataDir),
  queue: recordedQueue(engine.dataDir),
});

test('an `up` that is killed after its worker began leaves a worker and commands with one and the same options', async () => {
  // Its starter is frozen, not gone: the worker is not asked to end.
  const up = engine.spawnCli(['up', '--no-serve', ...OPTIONS]);
  await until(() => existsSync(begun));
  process.kill(up.pid as number, 'SIGSTOP');
  writeFileSync(go, '');
  await until(() => runningWorker(engine.dataDir) !== undefined);
  up.kill('SIGKILL');
  const { config: served, tools: loaded, queue, workdir } = runningWorker(engine.dataDir) ?? {};
  expect(choices()).toEqual({ config: served, tools: loaded, queue, workdir });
  expect(served).toBe(config);
}, 60_000);

test.each([
  ['config.json', '--config', () => config],
  ['tools.json', '--tools', () => tools],
  ['workdir.json', '--workdir', () => files.directory],
  ['queue.json', '--queue', () => 'others'],
])(
  'a damaged %s stops a start with its name, and %s repairs it',
  async (file, option, value) => {
    await engine.killWorker();
    writeFileSync(inFolder(file), '');
    const refused = await engine.cli(['exec', 'echo hi']);
    expect(refused).toMatchObject({ stdout: '', code: 78 });
    expect(refused.stderr).toContain(`${inFolder(file)}, which records a choice of the last`);
    expect(refused.stderr).toContain(option);
    expect(runningWorker(engine.dataDir)).toBeUndefined();
    const { stdout } = await engine.cli(['doctor', '--json']);
    expect(JSON.parse(stdout)).toContainEqual(expect.objectContaining({ name: 'disk', status: 'ok' }));
    expect(await engine.cli(['up', '--no-serve', option, value()])).toMatchObject({ code: 0 });
    expect(choices()).toEqual({ config, tools: [tools], workdir: files.directory, queue: 'others' });
    expect(lastWorker(engine.dataDir)).toMatchObject({ config, tools: [tools], queue: 'others' });
  },
  60_000,
);

test('an `up` without the options leaves none of them for the next start', async () => {
  const none = ['--no-config', '--no-tools', '--no-workdir', '--no-queue'];
  expect(await engine.cli(['up', '--no-serve', ...none])).toMatchObject({ code: 0 });
  expect(choices()).toEqual({ config: null, tools: [], workdir: null, queue: null });
  rmSync(tools);
  await engine.killWorker();
  expect(await engine.cli(['exec', 'echo hi'])).toMatchObject({ stdout: 'hi\n', code: 0 });
}, 60_000);

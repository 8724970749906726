// `holdfast serve` in the foreground: what it prints, and what it leaves as it is.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { isAlive } from '../../../system/processes/process-identity';
import { recordedConfig } from '../../../workers/configuration/recorded-choice';
import { runningWorker, type WorkerRecord } from '../../../workers/process/worker-record';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { until } from '../../helpers/until';
import { Person } from '../../helpers/terminals/person';

const engine = new EngineOfItsOwn();
const file = (name: string): string => join(engine.dataDir, name);
const own = file('own.toml');
beforeAll(async () => {
  writeFileSync(own, '[log]\nlevel = "warn"\n');
  await engine.start({ config: own });
}, 60_000);
afterAll(async () => expect(await engine.end()).toEqual([]), 60_000);

const worker = (): WorkerRecord => {
  const record = runningWorker(engine.dataDir);
  if (!record) throw new Error('no worker');
  return record;
};
const args = (...more: string[]): string[] => ['serve', '--listen', '127.0.0.1:0', ...more];

/** What it has printed when it serves, on both outputs; it is ended then. */
async function printed(...more: string[]): Promise<{ stdout: string; stderr: string }> {
  const child: ChildProcess = engine.spawnCli(args(...more));
  const said = { stdout: '', stderr: '' };
  child.stderr?.on('data', (chunk: Buffer) => (said.stderr += chunk.toString()));
  const first = new Promise((resolve) =>
    child.stdout?.on('data', (chunk: Buffer) => resolve((said.stdout += chunk.toString()))),
  );
  const closed = once(child, 'close');
  await Promise.race([first, closed]);
  child.kill('SIGTERM');
  await closed;
  return said;
}

test.each([
  ['as services run it', ['--json']],
  ['into a file', []],
])('started %s, it prints no link that logs in', async (_how, more) => {
  const { stdout, stderr } = await printed(...more);
  expect(stdout).toContain('http://127.0.0.1:');
  expect(stdout + stderr).not.toMatch(/#token=|hf_/);
});

test('at a terminal, or asked for, the link is there', async () => {
  const { url, link } = JSON.parse((await printed('--json', '--link')).stdout) as Record<string, string>;
  expect(link).toMatch(`${url}/#token=hf_`);
  const person = new Person(engine.dataDir, args().slice(1), { command: 'serve' });
  await person.sees('/#token=hf_');
  person.types('\x03');
  await until(() => person.exitCode !== null);
});

test('with another configuration it leaves the worker with its own, and says so', async () => {
  const before = worker();
  const other = file('other.toml');
  writeFileSync(other, '[log]\nlevel = "info"\n');
  const { stdout, stderr } = await printed('--json', '--config', other);
  expect(stdout).toContain('"url"');
  expect(stderr).toContain('the worker keeps its own configuration');
  expect(stderr).toContain(`"worker":"${own}"`);
  expect(worker().identity).toEqual(before.identity);
  expect(isAlive(before.identity)).toBe(true);
  expect(recordedConfig(engine.dataDir)).toBe(own);
});

test('a killed worker comes back with its own configuration, whichever one the gateway has', async () => {
  const other = file('other.toml');
  writeFileSync(other, '[log]\nlevel = "info"\n');
  await engine.killWorker();
  await printed('--json', '--config', other);
  expect(worker().config).toBe(own);
});

test('a configuration with other encryption than the worker’s is refused by name, and nothing is changed', async () => {
  const before = worker();
  const other = file('keys.toml');
  writeFileSync(other, '[encryption]\nkeys = [{ id = "k1", env = "HOLDFAST_TEST_KEY" }]\n');
  const env = { HOLDFAST_TEST_KEY: Buffer.alloc(32, 7).toString('base64') };
  const { code, stderr } = await engine.cli(args('--config', other), { env });
  expect({ code, stderr }).toMatchObject({ code: 64, stderr: expect.stringContaining(other) as string });
  expect(stderr).toContain('[encryption]');
  expect(worker().identity).toEqual(before.identity);
});

test('another command that gives the worker a configuration says that it was started again', async () => {
  const other = file('third.toml');
  writeFileSync(other, '');
  const { stderr } = await engine.cli(['exec', '--config', other, 'echo ran']);
  expect(stderr).toContain(`the worker was started again with the configuration ${other}`);
  expect(stderr).toContain(`it had ${own}`);
});

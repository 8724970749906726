// `holdfast exec --id`, repeated by a script whose first call was lost.
import { once } from 'node:events';
import type { ChildProcess } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CliResult } from '../../../helpers/engines/command-lines';
import { EngineOfItsOwn } from '../../../helpers/engines/engine-of-its-own';
import { until } from '../../../helpers/until';

const engine = new EngineOfItsOwn();
beforeAll(() => engine.start(), 60_000);
afterAll(async () => expect(await engine.end()).toEqual([]), 60_000);

const exec = (...args: string[]): Promise<CliResult> => engine.cliInTurn(['exec', ...args]);

test('a command that has ended prints the same again, with its exit code, also after another one', async () => {
  const counted = { code: 3, stdout: '1\n2\n3\n' };
  expect(await exec('--id', 'a', 'seq 3; exit 3')).toMatchObject(counted);
  expect(await exec('--id', 'a', 'seq 3; exit 3')).toMatchObject(counted);
  expect(await exec('echo other')).toMatchObject({ code: 0, stdout: 'other\n' });
  expect(await exec('--id', 'a', 'seq 3; exit 3')).toMatchObject(counted);
});

test('another command under the same id is refused, and prints nothing of the first', async () => {
  expect(await exec('--id', 'c', 'echo first')).toMatchObject({ code: 0, stdout: 'first\n' });
  const refused = await exec('--id', 'c', 'echo second');
  expect(refused).toMatchObject({ stdout: '' });
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toContain('id_conflict');
});

test('a command that still runs prints all of its output to the call that replaces a killed one', async () => {
  const [begun, go] = ['begun', 'go'].map((name) => join(engine.dataDir, name)) as [string, string];
  const code = `seq 3; touch ${begun}; until [ -e ${go} ]; do sleep 0.02; done; seq 4 6`;
  const args = ['exec', '--session', '1', '--id', 'b', code];
  const killed: ChildProcess = engine.spawnCli(args);
  await until(() => existsSync(begun));
  killed.kill('SIGKILL');
  await once(killed, 'exit');
  const again = engine.spawnCli(args);
  let stdout = '';
  again.stdout?.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  const ended = once(again, 'close');
  // Live, and not only at the end.
  await until(() => stdout === '1\n2\n3\n');
  writeFileSync(go, '');
  expect(await ended).toEqual([0, null]);
  expect(stdout).toBe('1\n2\n3\n4\n5\n6\n');
}, 60_000);

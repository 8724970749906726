// `holdfast exec` in a session where something else runs and prints.
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CliResult } from '../../../helpers/engines/command-lines';
import { EngineOfItsOwn } from '../../../helpers/engines/engine-of-its-own';
import { scratch } from '../../../helpers/engines/temporal';
import { RemoteHost } from '../../../helpers/hosts/remote-host';
import { until } from '../../../helpers/until';
import { fileNeeds } from '../../../helpers/run/programs';

fileNeeds('openssl');

const engine = new EngineOfItsOwn();
const files = scratch();
const way = ['--token-file', join(files.directory, 'token')];
let pi: RemoteHost;
beforeAll(async () => {
  await engine.start();
  pi = new RemoteHost('pi', engine.server().address);
  await pi.serve('--listen', '127.0.0.1:0');
  writeFileSync(join(files.directory, 'token'), await pi.cli('host', 'token', 'pi'));
  await until(async () => Boolean((await engine.client.hosts.state('pi').catch(() => null))?.facts?.listens));
}, 60_000);
afterAll(async () => {
  await pi.end();
  files.remove();
  expect(await engine.end()).toEqual([]);
}, 60_000);

const exec = (...args: string[]): Promise<CliResult> => engine.cliInTurn(['exec', ...args]);
/** A session in which something prints all the time. */
async function noisy(there: string[]): Promise<string[]> {
  const session = [...there, '--session', String(++sessions)];
  await exec(...session, '--yield-ms', '500', 'while :; do echo noise; done');
  return session;
}
let sessions = 0;

describe.each([
  ['on this machine', []],
  ['on a host that listens', ['--host', 'pi', ...way]],
  ['on another host', ['--host', 'pi']],
])('exec %s prints nothing of what ran in the session before it', (_, there) => {
  test('where it is refused as busy', async () => {
    const session = await noisy(there);
    for (let n = 1; n <= 5; n++) {
      const { code, stdout, stderr } = await exec(...session, 'echo intruder');
      expect([code, stdout]).toEqual([75, '']);
      expect(stderr).toContain('busy');
    }
    await engine.cliInTurn(['close', ...session.filter((word) => !way.includes(word))]);
  }, 60_000);

  test('with --reset, and its own output comes live', async () => {
    const session = await noisy(there);
    const go = join(files.directory, `go-${sessions}`);
    const code = `echo mine; until [ -e ${go} ]; do sleep 0.02; done; echo rest`;
    const running = engine.spawnCli(['exec', ...session, '--reset', code]);
    let stdout = '';
    running.stdout?.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    const ended = once(running, 'close');
    await until(() => stdout.includes('mine\n'));
    writeFileSync(go, '');
    expect(await ended).toEqual([0, null]);
    expect(stdout).toBe('mine\nrest\n');
  }, 60_000);
});

// A data folder that is used from two pid namespaces, such as two containers with one volume: neither sees the other's
// processes.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../../../system/package-root';
import { isAlive } from '../../../system/processes/process-identity';
import { EngineOfItsOwn, processesNaming } from '../../helpers/engines/engine-of-its-own';

const engine = new EngineOfItsOwn({ ownServer: true });
beforeAll(() => engine.start(), 60_000);
afterAll(async () => expect(await engine.end()).toEqual([]), 60_000);

const ELSEWHERE = ['--user', '--map-root-user', '--pid', '--fork', '--mount-proc'];

async function elsewhere(...args: string[]): Promise<string> {
  const command = [process.execPath, join(packageRoot(), 'bin', 'holdfast.js'), ...args];
  const { stdout, stderr } = await promisify(execFile)('unshare', [...ELSEWHERE, ...command], {
    env: { ...process.env, HOLDFAST_DATA: engine.dataDir, TEMPORAL_NAMESPACE: engine.namespace },
  }).catch((err: unknown) => err as { stdout: string; stderr: string });
  return stdout + stderr;
}

test.each([['exec', 'echo hi'], ['down']])(
  'where the server of its data folder runs in another pid namespace, `%s` says so, and neither starts a second one nor loses it',
  async (...args) => {
    const server = engine.server();
    expect(await elsewhere(...args)).toContain(
      'the server of this data folder runs in another container or pid namespace',
    );
    expect(engine.server()).toEqual(server);
    expect(isAlive(server.identity)).toBe(true);
    expect(processesNaming(server.dbFile)).toHaveLength(1);
    expect(await engine.cli(['exec', 'echo here'])).toMatchObject({ stdout: 'here\n', code: 0 });
  },
  60_000,
);

test('a server that was killed is started again at once', async () => {
  await engine.killServer();
  expect(await engine.cli(['exec', 'echo again'])).toMatchObject({ stdout: 'again\n', code: 0 });
}, 60_000);

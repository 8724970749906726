// A data folder that is copied or moved while its processes run: a copy owns none of them, a moved one all.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runningDetached } from '../../../gateway/gateway-record';
import { runningServer } from '../../../engine/server';
import { isAlive, type Identity } from '../../../system/processes/process-identity';
import { runningWorker } from '../../../workers/process/worker-record';
import { endDataFolder } from '../../helpers/engines/end-data-folder';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { holderRecord } from '../../helpers/terminals/holder-record';

const SESSION = { agent: 'cli', host: 'local', session: 0 };

const engine = new EngineOfItsOwn({ ownServer: true });
const folders = mkdtempSync(join(tmpdir(), 'holdfast-copied-'));
const copy = join(folders, 'copy');

beforeAll(async () => {
  await engine.startServer();
  expect(await engine.cliInTurn(['up', '--listen', '127.0.0.1:0'])).toMatchObject({ code: 0 });
  await engine.cliInTurn(['exec', '--yield-ms', '0', 'sleep 1000']);
  execFileSync('cp', ['-a', engine.dataDir, copy]);
}, 60_000);
afterAll(async () => {
  await endDataFolder(copy);
  rmSync(folders, { recursive: true, force: true });
  expect(await engine.end()).toEqual([]);
}, 60_000);

/** The processes of the original that an operator would miss. */
async function processes(): Promise<Record<string, Identity | undefined>> {
  return {
    server: (await runningServer(engine.dataDir))?.identity,
    worker: runningWorker(engine.dataDir)?.identity,
    page: runningDetached(engine.dataDir)?.identity,
    holder: holderRecord(engine, SESSION).identity,
  };
}

test('a copy says that nothing runs on it, and `down --sessions` on it ends nothing of the original', async () => {
  const before = await processes();
  expect(Object.values(before)).not.toContain(undefined);
  const ps = await engine.cliInTurn(['ps', '--data', copy]);
  expect(ps.stderr).toContain(
    `no_server: No Temporal server answers at the embedded server: none runs on ${copy}`,
  );
  const { stdout } = await engine.cliInTurn(['doctor', '--data', copy, '--json']);
  const checks = JSON.parse(stdout) as { name: string; found: string }[];
  expect(checks.find(({ name }) => name === 'worker')?.found).not.toContain('pid');
  expect(await engine.cliInTurn(['down', '--sessions', '--data', copy])).toEqual({
    code: 0,
    stdout: 'server was not running, worker was not running, 0 sessions ended\n',
    stderr: '',
  });
  expect(await processes()).toEqual(before);
  expect(Object.values(before).every((one) => one !== undefined && isAlive(one))).toBe(true);
  expect((await engine.cliInTurn(['output'])).stderr).toContain('running');
}, 60_000);

test('`up` on a copy is refused while the original is used, and leaves the original as it was', async () => {
  const before = await processes();
  const { code, stderr } = await engine.cliInTurn(['up', '--data', copy]);
  expect([code, stderr]).toEqual([75, expect.stringContaining('folder_in_use')]);
  expect(await engine.cliInTurn(['down', '--sessions', '--data', copy])).toMatchObject({ code: 0 });
  expect(await processes()).toEqual(before);
}, 60_000);

test('a folder that was moved still owns its processes: `down --sessions` ends them all', async () => {
  const before = Object.values(await processes());
  const moved = join(folders, 'moved');
  renameSync(engine.dataDir, moved);
  try {
    const { stdout } = await engine.cliInTurn(['down', '--sessions', '--data', moved]);
    expect(stdout).toBe('server stopped, worker stopped, page stopped, 1 session ended\n');
    expect(before.filter((one) => one === undefined || isAlive(one))).toEqual([]);
  } finally {
    // They may have made folders at the old place while they ran.
    rmSync(engine.dataDir, { recursive: true, force: true });
    renameSync(moved, engine.dataDir);
  }
}, 120_000);

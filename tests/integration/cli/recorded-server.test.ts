// A data folder whose worker was started for a named server: commands that name none mean that server.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { enginePaths, readRecord } from '../../../engine/record';
import { endDataFolder } from '../../helpers/engines/end-data-folder';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';

// For its server, and its command lines.
const engine = new EngineOfItsOwn();
const dataDir = mkdtempSync(join(tmpdir(), 'holdfast-named-'));
beforeAll(() => engine.startServer(), 60_000);
afterAll(async () => {
  await endDataFolder(dataDir);
  rmSync(dataDir, { recursive: true, force: true });
  expect(await engine.end()).toEqual([]);
}, 60_000);

const cli = (...args: string[]): ReturnType<typeof engine.cli> => engine.cli([...args, '--data', dataDir]);

test('after `up --address`, `exec` without it runs in a session there and starts no server', async () => {
  const { address } = engine.server();
  const up = await cli('up', '--no-serve', '--address', address, '--host', 'named');
  expect(up).toMatchObject({ code: 0 });
  const ran = await cli('exec', 'echo there');
  expect(ran).toMatchObject({ code: 0, stdout: 'there\n' });
  expect(readRecord(enginePaths(dataDir))).toBeUndefined();
  const listed = await cli('ps');
  expect(listed.stdout).toContain('exec/cli/named/0');
}, 120_000);

test('what a command suggests then names that server', async () => {
  const { stderr, code } = await cli('output', '--session', '7');
  expect(code).not.toBe(0);
  expect(stderr).toContain(`--address ${engine.server().address}`);
}, 60_000);

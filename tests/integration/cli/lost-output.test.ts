// Output that cannot be written: a file on a disk that is full.
import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { packageRoot } from '../../../system/package-root';

const BIN = join(packageRoot(), 'bin', 'holdfast.js');

const engine = new EngineOfItsOwn();
beforeAll(() => engine.start(), 60_000);
afterAll(async () => {
  expect(await engine.end()).toEqual([]);
}, 60_000);

/** Its output goes to a file whose disk is full. */
async function ontoFullDisk(...args: string[]): Promise<{ code: unknown; stderr: string }> {
  const full = openSync('/dev/full', 'w');
  const env = { ...process.env, HOLDFAST_DATA: engine.dataDir, TEMPORAL_NAMESPACE: engine.namespace };
  const child = spawn(process.execPath, [BIN, ...args], { env, stdio: ['ignore', full, 'pipe'] });
  closeSync(full);
  if (!child.stderr) throw new Error('it has no stderr');
  const [stderr, [code]] = await Promise.all([
    text(child.stderr),
    once(child, 'close') as Promise<unknown[]>,
  ]);
  return { code, stderr };
}

test.each([['ps'], ['ps', '--json'], ['tools'], ['exec', '--json', 'true'], ['approve', '--list', '--json']])(
  'a command whose output is lost says so, and does not exit with 0: %s %s',
  async (...args) => {
    const { code, stderr } = await ontoFullDisk(...args);
    expect([code, stderr]).toEqual([74, expect.stringContaining('output_failed')]);
    expect(stderr.trimStart().startsWith('{')).toBe(args.includes('--json'));
  },
  60_000,
);

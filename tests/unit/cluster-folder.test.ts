// scripts/cluster.sh: which folders it makes its own, and so deletes.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../system/package-root';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'holdfast-cluster-folder-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function cluster(...args: string[]): { status: number | null; stderr: string } {
  return spawnSync(join(packageRoot(), 'scripts', 'cluster.sh'), args, {
    encoding: 'utf8',
    // Its end is what ends `run`.
    input: '',
    env: { ...process.env, HOLDFAST_CLUSTER: folder },
  });
}

test.each([
  ['run', 'has other files in it'],
  ['start', 'has other files in it'],
  ['stop --delete', 'there is no cluster in'],
  ['run --bogus', 'unknown option --bogus'],
])('`cluster.sh %s` deletes nothing of a folder that holds something else', (command, said) => {
  writeFileSync(join(folder, 'mine'), '');
  const { status, stderr } = cluster(...command.split(' '));
  expect([status, stderr]).toEqual([1, expect.stringContaining(said)]);
  expect(readdirSync(folder)).toEqual(['mine']);
});

test('`cluster.sh run` leaves the cluster alone that `start` has made', () => {
  writeFileSync(join(folder, 'port'), '7400\n');
  const { status, stderr } = cluster('run');
  expect([status, stderr]).toEqual([1, expect.stringContaining('has a cluster')]);
  expect(readdirSync(folder)).toEqual(['port']);
});

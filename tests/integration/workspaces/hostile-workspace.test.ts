// Code in a workspace may put anything there, at any time: nothing is read or written outside, and nothing blocks.
import { execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileReach } from '../../../exec/file-reach';
import { count, longTest } from '../../helpers/run/long-run';
import { everythingIn, TestWorkspace } from './workspace';

let work: TestWorkspace;
const at = (path: string): string => join(work.cwd, path);
beforeEach(() => {
  work = new TestWorkspace();
});
afterEach(() => work.end());

/** All contents in the store. */
function contents(): string[] {
  const objects = work.git('cat-file', '--batch-all-objects', '--batch-check=%(objecttype) %(objectname)');
  return [...objects.matchAll(/^blob (\w+)$/gm)].map(([, oid = '']) => work.git('cat-file', 'blob', oid));
}

test('a folder that became a link is followed neither for reading nor for writing nor for deleting', async () => {
  const outside = join(work.base, 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'a.txt'), 'outside');
  writeFileSync(join(outside, 'secret.txt'), 'outside');
  work.write('dir/a.txt', 'one');
  const one = await work.checkpoint();
  rmSync(at('dir'), { recursive: true });
  symlinkSync(outside, at('dir'));
  const two = await work.checkpoint();
  expect(work.git('ls-tree', '-r', '--format=%(objectmode) %(path)', two.hash)).toBe('120000 dir\n');
  const before = everythingIn(outside);
  await work.rewind(one.hash);
  expect(readFileSync(at('dir/a.txt'), 'utf8')).toBe('one');
  expect(everythingIn(outside)).toEqual(before);
  await work.rewind(two.hash);
  expect(everythingIn(outside)).toEqual(before);
});

test.each<[string, () => unknown]>([
  ['a file called `set:` with a mode of its own', () => work.write('set:', 'x', 0o600)],
  ['a file called `map:` that is new', () => work.write('map:', 'x')],
  [
    'a folder called `set:`',
    async () => {
      work.write('set:/map:/a.txt', 'x');
      // From then on it is not read again until it changes.
      await delay(2_500);
    },
  ],
])('%s is recorded and comes back like any other', async (_, make) => {
  work.write('a.txt', 'one');
  await make();
  const first = everythingIn(work.cwd);
  const one = await work.checkpoint();
  work.write('a.txt', 'two');
  const two = await work.checkpoint();
  expect(two.changes).toEqual({ added: 0, modified: 1, deleted: 0 });
  rmSync(work.cwd, { recursive: true });
  mkdirSync(work.cwd);
  await work.rewind(one.hash);
  expect(everythingIn(work.cwd)).toEqual(first);
  expect((await work.checkpoint()).hash).toBe(one.hash);
});

test('a folder that is a link at one moment and a folder at the next never lets a secret in or a write out', async () => {
  const outside = join(work.base, 'outside');
  mkdirSync(outside);
  for (let n = 0; n < 20; n++) {
    writeFileSync(join(outside, `f${n}.txt`), 'the secret');
    work.write(`dir/f${n}.txt`, 'public');
  }
  const first = await work.checkpoint();
  const before = everythingIn(outside);
  // As fast as it can: a folder, a link, a folder; and each file a link, too.
  const race =
    `cd "$1" && while :; do mv dir real; ln -s "$2" dir; rm dir; mv real dir; ` +
    `mv dir/f0.txt x; ln -s "$2/f0.txt" dir/f0.txt; touch dir/f1.txt; rm dir/f0.txt; mv x dir/f0.txt; done`;
  const racing = spawn('/bin/sh', ['-c', race, 'sh', work.cwd, outside], { stdio: 'ignore' });
  try {
    for (let round = 0; round < count(15, 300); round++) {
      writeFileSync(join(outside, 'f1.txt'), 'the secret');
      await work.workspaces.checkpoint({ cwd: work.cwd, agent: 'a' });
      await work.rewind(first.hash, { force: true }).catch(() => undefined);
    }
  } finally {
    racing.kill('SIGKILL');
  }
  expect(everythingIn(outside)).toEqual(before);
  expect(contents().filter((content) => content === 'the secret')).toEqual([]);
});

test('sockets and pipes are skipped and said, and nothing waits for them', async () => {
  work.write('a.txt', 'a');
  execFileSync('mkfifo', [at('pipe'), at('pipe2')]);
  const server = createServer().listen(at('socket'));
  try {
    const kept = await work.checkpoint();
    expect(kept.files).toBe(1);
    expect(kept.skipped?.count).toBe(3);
    expect(kept.skipped?.first.map(({ path }) => path).sort()).toEqual(['pipe', 'pipe2', 'socket']);
    execFileSync('rm', [at('a.txt')]);
    execFileSync('mkfifo', [at('a.txt')]);
    expect((await work.checkpoint()).changes).toEqual({ added: 0, modified: 0, deleted: 1 });
    await work.rewind(kept.hash);
    expect(readFileSync(at('a.txt'), 'utf8')).toBe('a');
  } finally {
    server.close();
  }
});

longTest(
  'a pipe called .gitignore blocks git for ten seconds; then, for a while, checkpoints are missing at once, and a turn asks on',
  async () => {
    execFileSync('mkfifo', [at('.gitignore')]);
    const outcome = await work.workspaces.checkpoint({ cwd: work.cwd, agent: 'a' });
    expect(outcome).toEqual({ state: 'missing', reason: 'a look at its files takes longer than 10 seconds' });
    const before = Date.now();
    expect(await work.workspaces.checkpoint({ cwd: work.cwd, agent: 'a' })).toEqual(outcome);
    expect(Date.now() - before).toBeLessThan(8_000);
  },
);

test('files called like options, refs and git’s own are only files', async () => {
  for (const name of [
    '--all',
    '-z',
    'HEAD',
    '...',
    '..x',
    ':(top)x',
    ':!x',
    'a\\b',
    '%s',
    '$(id)',
    ' ',
    '~',
    '.GIT ',
    '.gitmodules',
  ])
    work.write(name, name);
  work.write('.GiT/config', 'not kept by git');
  const before = everythingIn(work.cwd, (path) => path === '.GiT');
  const one = await work.checkpoint();
  for (const name of Object.keys(before)) if (name !== '') rmSync(at(name));
  await work.checkpoint();
  await work.rewind(one.hash);
  expect(everythingIn(work.cwd, (path) => path === '.GiT')).toEqual(before);
});

test('the data folder is not recorded if it lies in the workspace', async () => {
  work.write('a.txt', 'a');
  const { Workspaces } = await import('../../../workspaces/workspaces');
  const data = at('data');
  mkdirSync(join(data, 'secrets'), { recursive: true });
  work.write('data/secrets/key', 'secret');
  const { DEFAULT_CHECKPOINTS } = await import('../../../contracts/workspaces/settings');
  const inside = new Workspaces({
    folder: join(data, 'checkpoints'),
    settings: DEFAULT_CHECKPOINTS,
    reachOf: () => fileReach(data, undefined),
    log: () => undefined,
  });
  expect(await inside.checkpoint({ cwd: work.cwd, agent: 'a' })).toMatchObject({ state: 'kept', files: 1 });
  expect(await inside.checkpoint({ cwd: work.cwd, agent: 'a' })).toMatchObject({
    changes: { added: 0, modified: 0, deleted: 0 },
  });
});

test('a workspace in the data folder that is not for programs has no checkpoints, and a rewind there changes nothing', async () => {
  const data = join(work.base, 'data');
  const linked = join(work.base, 'linked');
  const forPrograms = ['work', 'work/of/one', 'trees/local/an-agent', 'demo/one'].map((path) =>
    join(data, path),
  );
  const own = ['', 'sessions', 'sessions/1/commands', 'trees', 'trees/local', 'workers'];
  const ownFolders = own.map((path) => join(data, path));
  for (const folder of [...forPrograms, ...ownFolders]) mkdirSync(folder, { recursive: true });
  symlinkSync(data, linked);
  const commands = join(data, 'sessions', '1', 'commands');
  writeFileSync(join(commands, 'one.json'), '{}');
  // Recorded before the folder was a data folder's.
  const before = await work.checkpoint('a', data);
  writeFileSync(join(commands, 'two.json'), '{}');
  work.workspaces = work.withSettings({}, fileReach(data, undefined));
  for (const cwd of [...ownFolders, linked])
    expect(await work.workspaces.checkpoint({ cwd, agent: 'a' })).toMatchObject({
      state: 'off',
      reason: expect.stringContaining("Holdfast's data folder") as string,
    });
  for (const cwd of forPrograms)
    expect(await work.workspaces.checkpoint({ cwd, agent: 'a' })).toMatchObject({ state: 'kept' });
  await expect(work.rewind(before.hash, { cwd: data, force: true })).rejects.toMatchObject({
    code: 'checkpoint_failed',
  });
  const gone = join(data, 'engine');
  await expect(work.rewind(before.hash, { cwd: gone, force: true })).rejects.toMatchObject({
    code: 'checkpoint_failed',
  });
  expect(readdirSync(commands)).toEqual(['one.json', 'two.json']);
  expect(existsSync(gone)).toBe(false);
});

test('what no checkpoint holds is moved aside by a rewind, not overwritten', async () => {
  work.userGit('init', '-q');
  work.write('out', 'a file');
  const one = await work.checkpoint();
  rmSync(at('out'));
  work.write('.gitignore', 'out/\n');
  work.write('out/precious.txt', 'ignored, so in no checkpoint');
  await work.checkpoint();
  await work.rewind(one.hash);
  expect(readFileSync(at('out'), 'utf8')).toBe('a file');
  const kept = Object.entries(everythingIn(work.cwd)).find(([path]) =>
    /^out\.kept-\w+\/precious\.txt$/.test(path),
  );
  expect(Buffer.from(kept?.[1].split(' ')[2] ?? '', 'base64').toString()).toBe(
    'ignored, so in no checkpoint',
  );
});

test('a workspace that is gone, or is a file, has no checkpoint and says why', async () => {
  renameSync(work.cwd, `${work.cwd}-moved`);
  expect(await work.workspaces.checkpoint({ cwd: work.cwd, agent: 'a' })).toMatchObject({ state: 'missing' });
  writeFileSync(work.cwd, 'a file');
  expect(await work.workspaces.checkpoint({ cwd: work.cwd, agent: 'a' })).toMatchObject({ state: 'missing' });
});

test('a chain of a thousand folders and more costs a step no more than a slow look', async () => {
  // As deep as a path may be: to ask git about each level takes more than a minute.
  mkdirSync(at('d/'.repeat(1_900)), { recursive: true });
  expect(await work.workspaces.checkpoint({ cwd: work.cwd, agent: 'a' })).toEqual({
    state: 'missing',
    reason: 'a look at its files takes longer than 10 seconds',
  });
  rmSync(at('d'), { recursive: true });
}, 45_000);

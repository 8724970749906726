// Rewinds of a workspace that is no longer there, or whose path leads to another folder by now.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { holdLock } from '../../../system/lock';
import { everythingIn, TestWorkspace } from './workspace';

let work: TestWorkspace;
beforeEach(() => {
  work = new TestWorkspace();
});
afterEach(() => work.end());

describe('a workspace whose folder was removed', () => {
  beforeEach(() => chmodSync(work.cwd, 0o755));

  test('is made again and filled without force; a look only says so', async () => {
    work.write('dir/a.txt', 'one');
    mkdirSync(join(work.cwd, 'hollow'));
    const one = await work.checkpoint();
    const first = everythingIn(work.cwd);
    work.write('dir/a.txt', 'two');
    const two = await work.checkpoint();
    renameSync(work.cwd, `${work.cwd}.moved`);
    const looked = await work.rewind(one.hash, { expected: two.hash, dryRun: true });
    // `/` itself: its mode.
    expect(looked.changes.paths.map(({ path, kind }) => `${path} ${kind}`)).toEqual([
      ...['/ modified', 'dir/a.txt added', 'hollow/ added'],
    ]);
    expect(existsSync(work.cwd)).toBe(false);
    const rewound = await work.rewind(one.hash, { expected: two.hash, key: 'same' });
    expect(everythingIn(work.cwd)).toEqual(first);
    expect(rewound.changes).toEqual(looked.changes);
    expect(await work.rewind(one.hash, { expected: two.hash, key: 'same' })).toEqual(rewound);
  });

  test('is made again below the top of a repository, too', async () => {
    work.userGit('init', '-q');
    work.write('sub/a.txt', 'one');
    const cwd = join(work.cwd, 'sub');
    const one = await work.checkpoint('a', cwd);
    work.remove('sub');
    await work.rewind(one.hash, { cwd, expected: one.hash });
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('one');
  });

  test('stays removed if the rewind is refused: a person had changed files in between', async () => {
    work.write('a.txt', 'one');
    const one = await work.checkpoint();
    work.write('a.txt', 'of a person');
    const two = await work.checkpoint();
    rmSync(work.cwd, { recursive: true });
    const refused = work.rewind(one.hash, { expected: two.hash, foreign: [[one.hash, two.hash]] });
    await expect(refused).rejects.toMatchObject({ code: 'workspace_changed', facts: { got: 'a.txt' } });
    expect(existsSync(work.cwd)).toBe(false);
    await work.rewind(two.hash, { expected: two.hash });
  });

  test('with the folder above it gone fails and says which', async () => {
    const cwd = join(work.base, 'above', 'work');
    mkdirSync(cwd, { recursive: true });
    writeFileSync(join(cwd, 'a.txt'), 'one');
    const one = await work.checkpoint('a', cwd);
    rmSync(join(work.base, 'above'), { recursive: true });
    await expect(work.rewind(one.hash, { cwd })).rejects.toMatchObject({
      ...{ code: 'checkpoint_failed', message: expect.stringContaining(join(work.base, 'above')) as string },
    });
  });
});

test('a rewind is refused where a link leads to another folder than its checkpoints are of; forced, theirs is kept', async () => {
  const releases = [1, 2].map((n) => join(work.base, `release-${n}`));
  for (const release of releases) {
    mkdirSync(release);
    writeFileSync(join(release, 'version'), release);
  }
  const cwd = join(work.base, 'current');
  symlinkSync(releases[0] ?? '', cwd);
  const one = await work.checkpoint('a', cwd);
  writeFileSync(join(cwd, 'version'), 'changed');
  const two = await work.checkpoint('a', cwd);
  unlinkSync(cwd);
  symlinkSync(releases[1] ?? '', cwd);
  for (const dryRun of [true, false])
    await expect(work.rewind(one.hash, { cwd, dryRun, expected: null })).rejects.toMatchObject({
      ...{ code: 'workspace_moved', effect: 'none' },
      facts: { got: releases[1], allowed: releases[0] },
    });
  expect(readFileSync(join(cwd, 'version'), 'utf8')).toBe(releases[1]);
  const { before } = await work.rewind(one.hash, { cwd, expected: two.hash, force: true });
  expect(readFileSync(join(cwd, 'version'), 'utf8')).toBe(releases[0]);
  await work.rewind(before, { cwd });
  expect(readFileSync(join(cwd, 'version'), 'utf8')).toBe(releases[1]);
  // An agent that took none of them itself, such as a fork with a copy, may bring them back.
  await work.rewind(one.hash, { cwd, agent: 'b' });
});

test('what is lost of another agent keeps nobody from rewinding', async () => {
  const packs = join(work.folder, 'store.git', 'objects', 'pack');
  work.write('a.txt', 'one');
  const one = await work.checkpoint();
  work.write('a.txt', 'two');
  const two = await work.checkpoint();
  const before = readdirSync(packs);
  const cwd = join(work.base, 'other');
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'b.txt'), 'of another agent');
  await work.checkpoint('b', cwd);
  for (const name of readdirSync(packs)) if (!before.includes(name)) rmSync(join(packs, name));
  await work.rewind(one.hash, { expected: two.hash });
  expect(readFileSync(join(work.cwd, 'a.txt'), 'utf8')).toBe('one');
});

test('what is kept for an agent of another one stays when that is gone, also when something else is kept that ends with the same checkpoint', async () => {
  const hashes: string[] = [];
  for (const text of ['one', 'two', 'three']) {
    work.write('a.txt', text);
    hashes.push((await work.checkpoint('original')).hash);
  }
  const [first = '', , last = ''] = hashes;
  await work.workspaces.keepKnown({ agent: 'copy', hashes });
  await work.workspaces.keep({ agent: 'copy', hashes: [last, last] });
  await work.workspaces.collect({ isLiving: (agent) => agent === 'copy' });
  await work.rewind(first, { agent: 'copy', expected: last });
  expect(readFileSync(join(work.cwd, 'a.txt'), 'utf8')).toBe('one');
});

test('what a collection removes meanwhile is not kept, and the next collection works', async () => {
  work.write('a.txt', 'one');
  const { hash } = await work.checkpoint('original');
  const release = await holdLock(join(work.folder, 'store.lock'));
  const kept = work.workspaces.keepKnown({ agent: 'copy', hashes: [hash] });
  for (const ref of work.git('for-each-ref', '--format=%(refname)').split('\n').filter(Boolean))
    work.git('update-ref', '-d', ref);
  work.git('repack', '-a', '-d', '-q');
  for (const pack of readdirSync(join(work.folder, 'store.git', 'objects', 'pack')))
    rmSync(join(work.folder, 'store.git', 'objects', 'pack', pack));
  release();
  await kept;
  expect(await work.workspaces.agents()).toEqual([]);
  await work.workspaces.collect({ isLiving: () => true });
});

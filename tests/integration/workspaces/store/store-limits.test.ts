// Limits of the store: size, number and size of files, a full disk; and what is kept in it for whom.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { count } from '../../../helpers/run/long-run';
import { until } from '../../../helpers/until';
import { smallDisk } from '../../exec/output/small-disk';
import { TestWorkspace } from '../workspace';
import { WITHOUT_LIMITS } from '../../../../contracts/workspaces/file-reach';
import { DEFAULT_CHECKPOINTS } from '../../../../contracts/workspaces/settings';
import { tryLock } from '../../../../system/lock';
import { Git, GitFailure } from '../../../../workspaces/git/git-run';
import { Store } from '../../../../workspaces/git/store';
import { Breather } from '../../../../system/processes/breather';
import { Workspaces } from '../../../../workspaces/workspaces';

let work: TestWorkspace;
const at = (path: string): string => join(work.cwd, path);
beforeEach(() => {
  work = new TestWorkspace();
});
afterEach(() => work.end());

const NOTHING = { added: 0, modified: 0, deleted: 0 };

test('a checkpoint of unchanged files is the last one again and adds no object, whatever their times', async () => {
  work.write('a.txt', 'a');
  work.write('dir/b.txt', 'b');
  const one = await work.checkpoint();
  const objects = work.objects();
  execFileSync('touch', [at('a.txt'), at('dir')]);
  for (let n = 0; n < 3; n++) {
    const again = await work.checkpoint();
    expect(again).toEqual({ ...one, changes: NOTHING });
  }
  expect(work.objects()).toBe(objects);
  expect(one).toMatchObject({ files: 2, bytes: 2 });
});

test('the same files have the same id, in another workspace and by another agent', async () => {
  work.write('a.txt', 'a');
  chmodSync(work.cwd, 0o755);
  const one = await work.checkpoint('a');
  const other = new TestWorkspace();
  try {
    other.write('a.txt', 'a');
    chmodSync(other.cwd, 0o755);
    expect((await other.checkpoint('b')).hash).toBe(one.hash);
  } finally {
    other.end();
  }
});

test('a change that leaves size and times as they were is seen, as soon as it is made', async () => {
  work.write('a.txt', 'aaaa');
  const stamp = join(work.base, 'stamp');
  for (let n = 0; n < count(15, 200); n++) {
    execFileSync('touch', ['-r', at('a.txt'), stamp]);
    writeFileSync(at('a.txt'), String(n).padStart(4, '0'));
    execFileSync('touch', ['-r', stamp, at('a.txt')]);
    const { hash } = await work.checkpoint();
    expect(work.git('show', `${hash}:a.txt`)).toBe(String(n).padStart(4, '0'));
  }
});

test('a file above the limit is left out and said; no rewind touches it', async () => {
  work.workspaces = work.withSettings({ maxFileBytes: 2_000_000 });
  work.write('a.txt', 'a');
  work.write('large.bin', Buffer.alloc(1_900_000, 1));
  const one = await work.checkpoint();
  appendFileSync(at('large.bin'), Buffer.alloc(200_000, 2));
  const two = await work.checkpoint();
  expect(two.skipped).toEqual({
    count: 1,
    first: [{ path: 'large.bin', why: 'it is larger than 2000000 bytes' }],
  });
  expect(two.changes).toEqual({ ...NOTHING, modified: 1 });
  expect((await work.workspaces.changes({ from: one.hash, to: two.hash })).paths).toEqual([
    { path: 'large.bin', kind: 'modified' },
  ]);
  work.write('a.txt', 'b');
  expect((await work.checkpoint()).changes).toEqual({ ...NOTHING, modified: 1 });
  await work.rewind(two.hash);
  expect(readFileSync(at('large.bin')).length).toBe(2_100_000);
  // Back to when it was small: what no checkpoint holds is kept beside it.
  await work.rewind(one.hash);
  expect(readFileSync(at('large.bin')).length).toBe(1_900_000);
  const aside = readdirSync(work.cwd).filter((name) => name.startsWith('large.bin.kept-'));
  expect(aside.map((name) => readFileSync(at(name)).length)).toEqual([2_100_000]);
});

test('a workspace with too many files has checkpoints off, says why, and is not looked at again soon', async () => {
  work.workspaces = work.withSettings({ maxFiles: 50 });
  for (let n = 0; n < 51; n++) work.write(`f${n}`, '');
  const outcome = await work.workspaces.checkpoint({ cwd: work.cwd, agent: 'a' });
  expect(outcome).toMatchObject({
    state: 'off',
    reason: expect.stringMatching(/more files than 50/) as string,
  });
  rmSync(at('f50'));
  expect(await work.workspaces.checkpoint({ cwd: work.cwd, agent: 'a' })).toEqual(outcome);
});

describe('a folder in no repository with more files than anybody waits for', () => {
  const FILES = 10_001;
  const fill = (): void => {
    for (let n = 0; n < FILES; n++) work.write(`f${n}`, '');
  };

  test('has no first checkpoint unless it was asked for, which counts at once', async () => {
    fill();
    const of = { cwd: work.cwd, agent: 'a' };
    expect(await work.workspaces.checkpoint(of)).toEqual({
      state: 'off',
      reason:
        'it has more files than 10000, the limit of a folder in no git repository while `enabled` in [checkpoints] is "auto"',
    });
    work.workspaces = work.withSettings({ enabled: 'on' });
    expect(await work.workspaces.checkpoint(of)).toMatchObject({ state: 'kept' });
  });

  test('has one in a repository', async () => {
    fill();
    work.userGit('init', '-q');
    expect(await work.workspaces.checkpoint({ cwd: work.cwd, agent: 'a' })).toMatchObject({ state: 'kept' });
  });

  test('has the next ones if it grew later', async () => {
    await work.checkpoint();
    fill();
    expect((await work.checkpoint()).changes).toMatchObject({ added: FILES });
  });
});

test('a workspace whose files take longer to read than a look of git may is recorded', async () => {
  work.userGit('init', '-q');
  work.write('.gitignore', 'build/\n');
  work.write('a.txt', 'a');
  // Whether it is ignored is asked after the files are read.
  work.write('build/b.txt', 'b');
  const begun: AbortController[] = [];
  const time = jest.spyOn(AbortSignal, 'timeout').mockImplementation(() => {
    const over = new AbortController();
    begun.push(over);
    return over.signal;
  });
  // The time of all looks that were begun is over at each file.
  const slow = jest.spyOn(Breather.prototype, 'breathe').mockImplementation(() => {
    for (const over of begun) over.abort(new DOMException('', 'TimeoutError'));
    return Promise.resolve();
  });
  try {
    expect(await work.checkpoint()).toMatchObject({ state: 'kept', files: 2 });
    expect(begun.some(({ signal }) => signal.aborted)).toBe(true);
  } finally {
    slow.mockRestore();
    time.mockRestore();
  }
});

test('a full store takes no further checkpoint and says so; with room again the next one is whole', async () => {
  work.write('a.txt', 'a');
  const one = await work.checkpoint();
  work.write('b.bin', randomBytes(50_000));
  work.workspaces = work.withSettings({ storeBytes: work.workspaces.bytes() + 1_000 });
  expect(await work.workspaces.checkpoint({ cwd: work.cwd, agent: 'a' })).toMatchObject({
    state: 'missing',
    reason: expect.stringMatching(/the store is full/) as string,
  });
  work.workspaces = work.withSettings({});
  const two = await work.checkpoint();
  expect(two.changes).toEqual({ ...NOTHING, added: 1 });
  await work.rewind(one.hash);
  expect(existsSync(at('b.bin'))).toBe(false);
});

const disk = smallDisk(8);
(disk ? test : test.skip)(
  'on a full disk a checkpoint is missing and leaves nothing; with space the next one is whole',
  async () => {
    if (!disk) return;
    try {
      const full = new Workspaces({
        folder: join(disk.path, 'store'),
        settings: DEFAULT_CHECKPOINTS,
        reachOf: () => WITHOUT_LIMITS,
        log: () => undefined,
      });
      const take = (): ReturnType<Workspaces['checkpoint']> => full.checkpoint({ cwd: work.cwd, agent: 'a' });
      work.write('a.txt', 'a');
      expect(await take()).toMatchObject({ state: 'kept' });
      for (const freePages of [0, 3, 40]) {
        work.write('b.bin', randomBytes(900_000));
        disk.fill(freePages);
        expect(await take()).toMatchObject({
          state: 'missing',
          reason: expect.stringMatching(/disk is full/) as string,
        });
        disk.empty();
        expect(
          execFileSync('find', [disk.path, '-name', 'tmp_*', '-o', '-name', '*crash*'], { encoding: 'utf8' }),
        ).toBe('');
        expect(await take()).toMatchObject({ state: 'kept', changes: { deleted: 0 } });
      }
      const fsck = execFileSync(
        'git',
        ['--git-dir', join(disk.path, 'store/store.git'), 'fsck', '--strict'],
        { stdio: 'pipe' },
      );
      expect(fsck.toString()).toBe('');
    } finally {
      disk.unmount();
    }
  },
);

test('checkpoints that are kept for another agent, too, stay when theirs goes; one that is lost keeps none of the others', async () => {
  const noise = (): Buffer => randomBytes(30_000);
  const hashes: string[] = [];
  for (let n = 0; n < 3; n++) {
    work.write('a.bin', noise());
    hashes.push((await work.checkpoint('a')).hash);
  }
  const [first = '', , last = ''] = hashes;
  await work.workspaces.keepKnown({ agent: 'copy', hashes: [first, '0'.repeat(40), last] });
  await work.workspaces.keepKnown({ agent: 'nothing', hashes: ['0'.repeat(40)] });
  expect((await work.workspaces.agents()).sort()).toEqual(['a', 'copy']);
  await work.workspaces.collect({ isLiving: (agent) => agent === 'copy' });
  for (const hash of [first, last]) await work.workspaces.changes({ from: null, to: hash });
});

test('collect removes what no living agent can name, and nothing that one can', async () => {
  const noise = (): Buffer => randomBytes(30_000);
  work.write('a.bin', noise());
  const ofA = [await work.checkpoint('a')];
  work.write('a.bin', noise());
  const both = await work.checkpoint('a');
  expect((await work.checkpoint('b')).hash).toBe(both.hash);
  work.write('a.bin', noise());
  const ofB = await work.checkpoint('b');
  expect(await work.workspaces.keeps('a')).toEqual([both.hash, ofA[0]?.hash]);
  expect(await work.workspaces.keeps('b')).toEqual([ofB.hash, both.hash]);
  expect(await work.workspaces.collect({ isLiving: () => true })).toMatchObject({ removed: 0 });
  for (const { hash } of [...ofA, both, ofB]) await work.workspaces.changes({ from: null, to: hash });
  const { removed, bytes } = await work.workspaces.collect({ isLiving: (agent) => agent === 'b' });
  expect(removed).toBe(1);
  expect(bytes).toBeGreaterThan(25_000);
  for (const { hash } of [both, ofB]) await work.workspaces.changes({ from: null, to: hash });
  await expect(work.rewind(ofA[0]?.hash ?? '')).rejects.toMatchObject({
    code: 'checkpoint_missing',
    effect: 'none',
  });
  await work.workspaces.collect({ isLiving: (agent) => agent !== 'b' });
  await expect(work.workspaces.changes({ from: null, to: ofB.hash })).rejects.toMatchObject({
    code: 'checkpoint_missing',
  });
  expect((await work.checkpoint('c')).changes).toBeNull();
});

test('a workspace that is too large is told so before anything of it is read', async () => {
  const small = work.withSettings({ maxBytes: 1_000, maxFileBytes: 900 });
  work.write('a.bin', Buffer.alloc(800));
  // Left out anyway.
  work.write('large.bin', Buffer.alloc(2_000));
  expect(await small.checkpoint({ cwd: work.cwd, agent: 'a' })).toMatchObject({ state: 'kept', bytes: 800 });
  const other = join(work.base, 'other');
  mkdirSync(other);
  for (const name of ['a', 'b']) writeFileSync(join(other, name), Buffer.alloc(800));
  expect(await small.checkpoint({ cwd: other, agent: 'a' })).toMatchObject({
    state: 'off',
    reason: expect.stringMatching(/`max_mb` in \[checkpoints\]/) as string,
  });
});

test('many checkpoints are joined into few packs, and all stay readable', async () => {
  const hashes: string[] = [];
  for (let n = 0; n < 70; n++) {
    work.write('a.txt', `${n}`);
    hashes.push((await work.checkpoint()).hash);
  }
  await work.workspaces.collect({ isLiving: () => true });
  expect(/packs: (\d+)/.exec(work.git('count-objects', '-v'))?.[1]).toBe('1');
  expect(work.git('show', `${hashes[3]}:a.txt`)).toBe('3');
  expect(await work.workspaces.keeps('a')).toEqual(hashes.toReversed());
  expect(work.git('fsck', '--strict', '--no-dangling')).toBe('');
}, 120_000);

describe('packs that could not be joined', () => {
  const failed = (): string[] => work.logged.filter((line) => line.startsWith('packs could not be joined'));
  const files = (kind: RegExp): string[] =>
    readdirSync(join(work.folder, 'store.git/objects/pack')).filter((name) => kind.test(name));
  async function checkpoints(number: number): Promise<void> {
    for (let n = 0; n < number; n++) {
      work.write('a.txt', randomBytes(8));
      await work.checkpoint();
    }
  }
  /** Called after the first checkpoint, as if its packs were too many. */
  const whenTooMany = (then: () => void): unknown =>
    jest.spyOn(Store.prototype, 'packs').mockImplementationOnce(() => {
      then();
      return 64;
    });
  afterEach(() => jest.restoreAllMocks());

  test('because the store was being cleaned up are joined after some more checkpoints', async () => {
    let release: (() => void) | undefined;
    whenTooMany(() => (release = tryLock(join(work.folder, 'store.lock'))));
    await checkpoints(1);
    await until(() => failed().length > 0);
    expect(failed()).toEqual([expect.stringContaining('cleaned up')]);
    release?.();
    await checkpoints(16);
    await until(() => files(/\.pack$/).length < 16);
    expect(failed()).toHaveLength(1);
  }, 60_000);

  test.each([
    ['because the disk was full are tried again', 'fatal: write error. Out of diskspace', 2],
    ['by a git that is too old are not tried again', "error: unknown option `geometric=2'", 1],
  ])(
    '%s; nothing half written stays',
    async (_, said, times) => {
      const git = new Git(join(work.folder, 'store.git'));
      const run = git.run.bind(git);
      whenTooMany(() => undefined);
      jest.spyOn(Git.prototype, 'run').mockImplementation((args, options) => {
        if (!args.includes('repack')) return run(args, options);
        writeFileSync(join(git.gitDir, 'objects/pack/tmp_pack_1'), 'half');
        return Promise.reject(new GitFailure('repack', 128, said));
      });
      await checkpoints(20);
      await until(() => failed().length >= times);
      expect(failed()).toHaveLength(times);
      expect(files(/^tmp/)).toEqual([]);
    },
    60_000,
  );
});

test.each(['state.json', 'index', 'store.git'])(
  'without %s, or with a damaged one, the next checkpoint is like the first one',
  async (name) => {
    work.write('a.txt', 'a');
    const one = await work.checkpoint();
    const folder = join(work.folder, 'workspaces', readdirSync(join(work.folder, 'workspaces'))[0] ?? '');
    if (name === 'store.git') rmSync(join(work.folder, name), { recursive: true });
    else {
      const file = readdirSync(folder).find((one) => one.startsWith(name)) ?? '';
      truncateSync(join(folder, file), 20);
    }
    work.write('b.txt', 'b');
    expect(await work.checkpoint()).toMatchObject({ files: 2 });
    work.remove('b.txt');
    expect((await work.checkpoint()).hash).toBe(one.hash);
  },
);

test.each(['HEAD', 'config', 'refs', 'objects'])(
  'a store without its %s is made whole by the next checkpoint, and keeps what it has',
  async (name) => {
    work.write('a.txt', 'a');
    const one = await work.checkpoint();
    rmSync(join(work.folder, 'store.git', name), { recursive: true });
    work.write('b.txt', 'b');
    expect(await work.checkpoint()).toMatchObject({ files: 2 });
    expect(readdirSync(work.folder).filter((one) => one.endsWith('.tmp'))).toEqual([]);
    if (name === 'objects') return;
    await work.rewind(one.hash);
    expect(existsSync(at('b.txt'))).toBe(false);
  },
);

test('two at once on one workspace both have a checkpoint of it', async () => {
  for (let n = 0; n < 50; n++) work.write(`f${n}`, `${n}`);
  const second = work.withSettings({});
  for (let n = 0; n < 5; n++) {
    work.write('changing', `${n}`);
    const outcomes = await Promise.all([
      work.workspaces.checkpoint({ cwd: work.cwd, agent: 'a' }),
      second.checkpoint({ cwd: work.cwd, agent: 'b' }),
      work.workspaces.checkpoint({ cwd: work.cwd, agent: 'b' }),
    ]);
    const hashes = new Set(outcomes.map((one) => (one.state === 'kept' ? one.hash : one.reason)));
    expect(hashes.size).toBe(1);
  }
});

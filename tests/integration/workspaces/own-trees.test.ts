// The folders of agents that work in one of their own, as a host makes and leaves them: whole, also under an id that was
// used before, and without harm to other worktrees of the user's repository or to files that no checkpoint holds.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { WITHOUT_LIMITS } from '../../../contracts/workspaces/file-reach';
import { DEFAULT_CHECKPOINTS } from '../../../contracts/workspaces/settings';
import { OwnTrees } from '../../../workspaces/own/own-trees';
import { runDist } from '../../helpers/engines/dist-process';
import { until } from '../../helpers/until';
import { everythingIn, TestWorkspace } from './workspace';

const log = jest.fn();
let work: TestWorkspace;
beforeEach(() => {
  work = new TestWorkspace();
  work.write('a.txt', 'a\n');
  work.write('dir/b.txt', 'b\n', 0o600);
  log.mockClear();
});
afterEach(() => work.end());

function treesIn(data: string): OwnTrees {
  const folder = join(work.base, data, 'trees');
  return new OwnTrees({
    ...{ workspaces: work.workspaces, folder, reachOf: () => WITHOUT_LIMITS, isConfined: false, log },
    folderOf: (agent) => join(folder, agent),
  });
}
const made = async (trees: OwnTrees, born: string): Promise<{ folder: string; base: string }> =>
  trees.make({ agent: 'fix', born, of: work.cwd, owner: 'parent', hash: null, for: 'parent' });

describe('a folder of its own has all files', () => {
  test('under the id of an agent that has left one', async () => {
    const trees = treesIn('data');
    const { base } = await made(trees, '1');
    await trees.leave({ agent: 'fix', base, for: 'parent' });
    const { folder } = await made(trees, '2');
    expect(everythingIn(folder)).toEqual(everythingIn(work.cwd));
    const { counts } = await trees.leave({ agent: 'fix', base, for: 'parent' });
    expect(counts).toEqual({ added: 0, modified: 0, deleted: 0 });
  });

  test('where its making is repeated because its end was not recorded', async () => {
    const trees = treesIn('data');
    const { folder } = await made(trees, '1');
    const record = JSON.parse(readFileSync(`${folder}.json`, 'utf8')) as { isMade?: true };
    delete record.isMade;
    writeFileSync(`${folder}.json`, JSON.stringify(record));
    await made(trees, '1');
    expect(everythingIn(folder)).toEqual(everythingIn(work.cwd));
  });
});

describe('an agent that has ended, and a later one of its name', () => {
  /** The next checkpoint waits until it is let go. */
  function slowCheckpoint(): { begun: Promise<unknown>; goOn: () => void } {
    const { workspaces } = work;
    const checkpoint = workspaces.checkpoint.bind(workspaces);
    let goOn = (): void => undefined;
    const released = new Promise<void>((resolve) => (goOn = resolve));
    const asked = jest.spyOn(workspaces, 'checkpoint').mockImplementationOnce(async (of) => {
      await released;
      return checkpoint(of);
    });
    return { begun: until(() => asked.mock.calls.length > 0), goOn };
  }

  test.each(['leave', 'sweep'] as const)(
    'whose folder is made while the first one’s is left (%s) keeps it',
    async (how) => {
      const trees = treesIn('data');
      const { base, folder } = await made(trees, '1');
      writeFileSync(join(folder, 'a.txt'), 'of the first\n');
      const slow = slowCheckpoint();
      const leaving: Promise<unknown> =
        how === 'leave'
          ? trees.leave({ agent: 'fix', base, for: 'parent' })
          : trees.sweep({ agent: 'fix', born: '1' });
      await slow.begun;
      const making = made(trees, '2');
      await Promise.race([making, setTimeout(500)]);
      slow.goOn();
      await Promise.all([leaving, making]);
      expect(everythingIn(folder)).toEqual(everythingIn(work.cwd));
      expect(trees.unleft()).toEqual([{ agent: 'fix', born: '2' }]);
    },
  );

  test('are told apart, however late the first one is left', async () => {
    const trees = treesIn('data');
    const { base } = await made(trees, '1');
    const { folder } = await made(trees, '2');
    await trees.sweep({ agent: 'fix', born: '1' });
    await expect(trees.leave({ agent: 'fix', born: '1', base, for: 'parent' })).rejects.toMatchObject({
      code: 'workspace_failed',
    });
    expect(everythingIn(folder)).toEqual(everythingIn(work.cwd));
  });
});

describe('a sweep', () => {
  test('removes a folder that was left, but not removed before its worker was killed', async () => {
    work.userGit('init', '-q');
    work.userGit('add', '.');
    work.userGit('commit', '-q', '-m', 'first');
    const trees = treesIn('data');
    const { base, folder } = await made(trees, '1');
    // As the kill leaves it: with a record of what was left.
    const places = [folder, join(work.cwd, '.git', 'worktrees', 'holdfast-fix')];
    for (const place of places) cpSync(place, `${place}.copy`, { recursive: true });
    await trees.leave({ agent: 'fix', base, for: 'parent' });
    expect(trees.unleft()).toEqual([]);
    for (const place of places) renameSync(`${place}.copy`, place);
    const [left = { agent: '', born: '' }] = trees.unleft();
    await trees.sweep(left);
    expect(places.filter((place) => existsSync(place))).toEqual([]);
    expect(trees.unleft()).toEqual([]);
  });

  test('takes a folder that somebody has removed for left', async () => {
    const trees = treesIn('data');
    const { folder } = await made(trees, '1');
    rmSync(folder, { recursive: true });
    await trees.sweep({ agent: 'fix', born: '1' });
    expect(trees.unleft()).toEqual([]);
  });

  test('keeps a folder with files that no checkpoint holds, and names it once', async () => {
    const trees = treesIn('data');
    const { folder } = await made(trees, '1');
    writeFileSync(join(folder, 'large'), '');
    truncateSync(join(folder, 'large'), DEFAULT_CHECKPOINTS.maxFileBytes + 1);
    await trees.sweep({ agent: 'fix', born: '1' });
    expect(existsSync(join(folder, 'large'))).toBe(true);
    expect(log.mock.calls).toEqual([
      [expect.stringMatching(/stays/), { agent: 'fix', folder, first: ['large'], count: 1 }],
    ]);
    expect(trees.unleft()).toEqual([]);
  });
});

describe('folders that their owner may not write in', () => {
  /** Removes them as another user than root, who may do all. Returns what it prints. */
  async function asUser(body: string): Promise<unknown> {
    work.write('vendor/deep/c.txt', 'c\n');
    work.write('dark/e.txt', 'e\n');
    work.write('outside/d.txt', 'd\n');
    renameSync(join(work.cwd, 'outside'), join(work.base, 'outside'));
    symlinkSync('../../../outside', join(work.cwd, 'vendor', 'link'));
    for (const path of ['work/vendor/deep', 'work/vendor', 'outside'])
      chmodSync(join(work.base, path), 0o555);
    execFileSync('chown', ['-hR', '65534:65534', work.base]);
    chmodSync(work.base, 0o755);
    const script = `const { OwnTrees } = load('workspaces/own/own-trees');
      const { Workspaces } = load('workspaces/workspaces');
      const { DEFAULT_CHECKPOINTS } = load('contracts/workspaces/settings');
      if (process.getuid() === 0) { process.setgroups([]); process.setgid(65534); process.setuid(65534); }
      const { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } = require('node:fs');
      const [store, of, folder] = args;
      const logged = [];
      const log = (message) => logged.push(message);
      const reachOf = () => load('contracts/workspaces/file-reach').WITHOUT_LIMITS;
      const options = { settings: DEFAULT_CHECKPOINTS, reachOf, log };
      const trees = new OwnTrees({
        ...{ workspaces: new Workspaces({ ...options, folder: store }), folder, reachOf, isConfined: false, log },
        folderOf: (agent) => folder + '/' + agent,
      });
      const make = (agent) => trees.make({ agent, born: '1', of, owner: 'parent', hash: null, for: 'parent' });
      const own = await make('fix');
      ${body}`;
    const child = runDist(script, work.folder, work.cwd, join(work.base, 'data', 'trees'));
    const told: unknown = JSON.parse(await child.nextLine());
    await child.ended;
    expect(everythingIn(join(work.base, 'outside'))).toEqual({
      ...{ '': 'folder 555', 'd.txt': expect.any(String) as string },
    });
    return told;
  }

  test('are removed with the folder of the agent that left them, and what they link to stays as it is', async () => {
    const told = await asUser(`
      chmodSync(own.folder, 0o555);
      await trees.leave({ agent: 'fix', base: own.base, for: 'parent' });
      console.log(JSON.stringify([existsSync(own.folder), trees.unleft(), logged]));`);
    expect(told).toEqual([false, [], []]);
  });

  test('are in a copy whose making is repeated, because its worker was killed before it was recorded', async () => {
    const told = await asUser(`
      chmodSync(of + '/dark', 0);
      await make('other');
      const file = folder + '/other.json';
      const { isMade, ...record } = JSON.parse(readFileSync(file, 'utf8'));
      writeFileSync(file, JSON.stringify(record));
      await make('other');
      console.log(JSON.stringify(isMade));`);
    expect(told).toBe(true);
    expect(everythingIn(join(work.base, 'data', 'trees', 'other'))).toEqual(everythingIn(work.cwd));
  });

  test('stay where they cannot be looked into either: no checkpoint holds what is in them', async () => {
    const told = await asUser(`
      mkdirSync(own.folder + '/secret');
      writeFileSync(own.folder + '/secret/file', 'x');
      chmodSync(own.folder + '/secret', 0);
      await trees.leave({ agent: 'fix', base: own.base, for: 'parent' });
      console.log(JSON.stringify([trees.unleft(), logged]));`);
    expect(told).toEqual([[{ agent: 'fix', born: '1' }], ['the folder of an agent could not be removed']]);
    expect(existsSync(join(work.base, 'data', 'trees', 'fix', 'secret', 'file'))).toBe(true);
  });
});

describe('a worktree', () => {
  const git = (cwd: string, ...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=u', '-c', 'user.email=u@example.org', ...args], {
      ...{ cwd, encoding: 'utf8', stdio: 'pipe' },
    }).trim();
  /** Nothing else leads to it. */
  function commit(cwd: string): string {
    writeFileSync(join(cwd, 'a.txt'), `of ${cwd}\n`);
    git(cwd, 'commit', '-q', '-a', '-m', 'work');
    return git(cwd, 'rev-parse', 'HEAD');
  }
  const headOf = (cwd: string): string => git(cwd, 'rev-parse', 'HEAD');
  beforeEach(() => {
    work.userGit('init', '-q');
    work.userGit('add', '.');
    work.userGit('commit', '-q', '-m', 'first');
  });

  test('of the user keeps its commits, though an agent’s has the same name', async () => {
    const theirs = join(work.base, 'holdfast-fix');
    work.userGit('worktree', 'add', '-q', '--detach', theirs);
    const head = commit(theirs);
    const { folder } = await made(treesIn('data'), '1');
    const own = commit(folder);
    expect([headOf(theirs), headOf(folder)]).toEqual([head, own]);
    expect(git(theirs, 'status', '--short')).toBe('');
  });

  test('of an agent keeps them beside that of a later agent of this id, and of one in another data folder', async () => {
    const trees = treesIn('data');
    const { folder } = await made(trees, '1');
    const first = commit(folder);
    await made(trees, '2');
    const second = commit(folder);
    const other = (await made(treesIn('other-data'), '1')).folder;
    const third = commit(other);
    expect([`${folder}.1`, folder, other].map(headOf)).toEqual([first, second, third]);
    const listed = work.userGit('worktree', 'list', '--porcelain');
    for (const tree of [`${folder}.1`, folder, other]) expect(listed).toContain(`worktree ${tree}\n`);
    work.userGit('worktree', 'prune', '--expire=now');
    expect(headOf(`${folder}.1`)).toBe(first);
  });

  test('that an agent leaves is gone from the repository', async () => {
    const trees = treesIn('data');
    const { base } = await made(trees, '1');
    await trees.leave({ agent: 'fix', base, for: 'parent' });
    expect(existsSync(join(work.cwd, '.git', 'worktrees', 'holdfast-fix'))).toBe(false);
  });
});

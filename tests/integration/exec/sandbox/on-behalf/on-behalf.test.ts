// X5: what the worker reads and writes for an agent, it reads and writes only where the agent's own commands may.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { readContext } from '../../../../../activities/agents/read-context';
import { Inside } from '../../../../../workspaces/files/inside';
import { everythingIn } from '../../../workspaces/workspace';
import { ConfinedAgents } from './confined-agents';

let on: ConfinedAgents;
beforeEach(() => {
  on = new ConfinedAgents();
  on.write('holdfast.toml', 'mode = "required"\n');
  on.write('a.txt', 'a\n');
  on.write('secrets/key', 'canary\n');
  on.write('deep/down/secret/key', 'canary\n');
  on.write('deep/other.txt', 'other\n');
  on.hidden = [join(on.work, 'secrets'), join(on.work, 'deep', 'down', 'secret')];
  on.write('file', 'canary\n', on.outside);
  on.write('file', 'shown\n', on.shown);
  on.write('gateway/tokens.json', 'canary\n', on.data);
});
afterEach(() => on.end());

const isThere = (folder: string): string[] => Object.keys(everythingIn(folder)).sort();
const put =
  (path: string, content: string): ((folder: string) => void) =>
  (folder) =>
    on.write(path, content, folder);

describe('changes of a sub-agent', () => {
  test.each<[string, string, (folder: string) => void]>([
    ['of a file that is read-only for its parent', 'holdfast.toml', put('holdfast.toml', 'mode = "off"\n')],
    ['that remove such a file', 'holdfast.toml', (folder) => rmSync(join(folder, 'holdfast.toml'))],
    [
      'that put a link in its place',
      'holdfast.toml',
      (folder) => on.link('/etc/passwd', 'holdfast.toml', folder),
    ],
    [
      'that put a folder in its place',
      'holdfast.toml/x',
      (folder) => {
        rmSync(join(folder, 'holdfast.toml'));
        on.write('holdfast.toml/x', '', folder);
      },
    ],
    ['in a hidden folder', 'secrets/key', put('secrets/key', 'new\n')],
    ['that put a file in its place', 'secrets', put('secrets', 'new\n')],
    ['where a file may be loaded later', 'roles/evil.md', put('roles/evil.md', 'new\n')],
    [
      'where a file may be loaded later, in a folder that is not there yet',
      'conf/later.toml',
      put('conf/later.toml', 'new\n'),
    ],
    [
      'that replace a folder above a hidden one',
      'deep',
      (folder) => {
        rmSync(join(folder, 'deep'), { recursive: true });
        symlinkSync('/etc', join(folder, 'deep'));
      },
    ],
  ])('%s are a conflict, and nothing is applied', async (_title, path, work) => {
    const before = everythingIn(on.work);
    const { conflicts } = await on.subAgent('sub', (folder) => {
      on.write('harmless.txt', 'x\n', folder);
      work(folder);
    });
    expect(conflicts.map((one) => one.path)).toContain(path);
    expect(conflicts.find((one) => one.path === path)?.why).toMatch(
      /^the sandbox (makes it read-only|hides it)|folder here/,
    );
    expect(everythingIn(on.work)).toEqual(before);
  });

  test('that replace a folder above Holdfast’s data are a conflict, also without a sandbox', async () => {
    on.isConfined = false;
    on.write('state/note', 'x\n', on.base);
    const replace = (folder: string): void => {
      rmSync(join(folder, 'state'), { recursive: true });
      symlinkSync('/etc', join(folder, 'state'));
    };
    const { conflicts } = await on.subAgent('sub', replace, { of: on.base });
    expect(conflicts).toEqual([{ path: 'state', why: "Holdfast's data folder makes it read-only here" }]);
    expect(existsSync(on.data)).toBe(true);
  });

  test('of what its parent may write are applied', async () => {
    const { conflicts, applied } = await on.subAgent('sub', (folder) => {
      writeFileSync(join(folder, 'a.txt'), 'b\n');
      rmSync(join(folder, 'deep', 'other.txt'));
      on.write('new/file', 'x\n', folder);
    });
    expect(conflicts).toEqual([]);
    expect(applied.counts).toEqual({ added: 1, modified: 1, deleted: 1 });
    expect(readFileSync(join(on.work, 'a.txt'), 'utf8')).toBe('b\n');
    expect(readFileSync(join(on.work, 'deep', 'down', 'secret', 'key'), 'utf8')).toBe('canary\n');
  });
});

describe('what is hidden', () => {
  test('is in no checkpoint and in no copy', async () => {
    const { folder } = await on.copy('sub');
    expect(isThere(folder)).toEqual(expect.arrayContaining(['a.txt', 'holdfast.toml', 'deep/other.txt']));
    expect(JSON.stringify(isThere(folder))).not.toMatch(/secret/);
  });

  test('after it was recorded is in no later checkpoint, and in no copy, fork or rewind to an earlier one', async () => {
    const { hidden } = on;
    on.hidden = [];
    const old = await on.checkpoint('parent');
    expect(isThere((await on.copy('control', { hash: old })).folder)).toContain('secrets/key');
    on.hidden = hidden;
    on.write('secrets/key', 'newer\n');
    for (const [agent, hash] of [
      ['sub', null],
      ['fork', old],
    ] as const) {
      const { folder, base } = await on.copy(agent, { hash });
      expect(isThere(folder)).toContain('a.txt');
      expect(JSON.stringify(isThere(folder))).not.toMatch(/secret/);
      // What it leaves is compared with what it began with.
      expect((await on.trees.leave({ agent, base, for: 'parent' })).counts).toEqual({
        added: 0,
        modified: 0,
        deleted: 0,
      });
    }
    writeFileSync(join(on.work, 'a.txt'), 'changed\n');
    await on.rewind('parent', old);
    expect(readFileSync(join(on.work, 'a.txt'), 'utf8')).toBe('a\n');
    expect(readFileSync(join(on.work, 'secrets', 'key'), 'utf8')).toBe('newer\n');
  });

  test('is shown again by the next checkpoint once it is no longer hidden', async () => {
    await on.checkpoint('parent');
    on.hidden = [];
    expect(isThere((await on.copy('sub')).folder)).toEqual(
      expect.arrayContaining(['secrets/key', 'deep/down/secret/key']),
    );
  });
});

test('a rewind changes what the agent may write, and leaves what is read-only for it', async () => {
  const one = await on.checkpoint('agent');
  on.write('holdfast.toml', 'mode = "required" # by its owner\n');
  on.write('a.txt', 'b\n');
  expect((await on.rewind('agent', one)).notRestored).toEqual({
    count: 1,
    first: [{ path: 'holdfast.toml', why: 'the sandbox keeps the agent from changing it' }],
  });
  expect(readFileSync(join(on.work, 'a.txt'), 'utf8')).toBe('a\n');
  expect(readFileSync(join(on.work, 'holdfast.toml'), 'utf8')).toContain('by its owner');
});

describe('a folder that the agent may not write', () => {
  const folders: [string, () => string][] = [
    ['outside of the sandbox', () => on.outside],
    ['that it may read', () => on.shown],
    ['behind a link that it has made', () => (on.link(on.outside, 'led'), join(on.work, 'led'))],
    ['by a way with ".."', () => `${on.work}/../${basename(on.outside)}`],
    ['of Holdfast’s data', () => join(on.data, 'gateway')],
    ['that is hidden', () => join(on.work, 'secrets')],
    ['of another agent’s own', () => join(on.data, 'trees', 'local', 'other')],
  ];

  test.each(folders)(
    '%s has no checkpoint, no rewind, no copy and takes no changes',
    async (_title, folderOf) => {
      const other = (await on.copy('other', { parent: 'parent' })).folder;
      const folder = folderOf();
      // As if recorded when there was no sandbox, which its data folder never allows.
      on.isConfined = false;
      const isData = folder.startsWith(on.data) && folder !== other;
      const before = await on.checkpoint('agent', isData ? on.work : folder);
      on.isConfined = true;
      on.write('added', 'x\n', folder);
      const contents = everythingIn(folder);
      expect(await on.workspaces.checkpoint({ cwd: folder, agent: 'agent' })).toMatchObject({ state: 'off' });
      await expect(on.rewind('agent', before, folder)).rejects.toMatchObject({ code: 'checkpoint_failed' });
      await expect(on.copy('sub', { parent: 'agent', of: folder })).rejects.toMatchObject({
        code: 'workspace_failed',
      });
      const asked = { agent: 'agent', cwd: folder, base: before, theirs: before, dryRun: false };
      await expect(on.workspaces.applyChanges(asked)).rejects.toMatchObject({ code: 'checkpoint_failed' });
      expect(everythingIn(folder)).toEqual(contents);
    },
  );

  test('shows nothing of an earlier checkpoint to a fork', async () => {
    on.isConfined = false;
    const before = await on.checkpoint('agent', on.outside);
    on.isConfined = true;
    const { folder } = await on.copy('fork', { parent: 'agent', of: on.outside, hash: before });
    expect(isThere(folder)).not.toContain('file');
  });

  test('is the agent’s in a folder of its own', async () => {
    const { folder } = await on.copy('own');
    expect(await on.workspaces.checkpoint({ cwd: folder, agent: 'own' })).toMatchObject({ state: 'kept' });
  });
});

describe('a repository that code of the agent has changed', () => {
  /** What a git directory needs in order to be taken for one. */
  function target(of: string): string {
    const folder = join(of, 'victim');
    for (const name of ['objects', 'refs', 'info']) mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(join(folder, 'HEAD'), 'ref: refs/heads/main\n');
    return folder;
  }

  test.each<[string, (git: string, victim: string) => void]>([
    ['by a `commondir`', (git, victim) => writeFileSync(join(git, 'commondir'), `${victim}\n`)],
    [
      'by a `.git` that is a file',
      (git, victim) => {
        rmSync(git, { recursive: true });
        writeFileSync(git, `gitdir: ${victim}\n`);
      },
    ],
    [
      'by a `.git` that is a link',
      (git, victim) => {
        rmSync(git, { recursive: true });
        symlinkSync(victim, git);
      },
    ],
    ['by a link called `worktrees`', (git, victim) => symlinkSync(victim, join(git, 'worktrees'))],
    [
      'by a link called `objects`',
      (git, victim) => {
        rmSync(join(git, 'objects'), { recursive: true });
        symlinkSync(join(victim, 'objects'), join(git, 'objects'));
      },
    ],
  ])('leads nobody elsewhere: %s', async (_title, change) => {
    for (const [agent, of] of [
      ['sub', on.outside],
      ['other', on.shown],
    ] as const) {
      const victim = target(of);
      const repository = on.repository(agent);
      change(join(repository, '.git'), victim);
      const before = everythingIn(victim);
      const { folder } = await on.copy(agent, { of: repository });
      expect(readFileSync(join(folder, 'code.txt'), 'utf8')).toBe('code\n');
      expect(everythingIn(victim)).toEqual(before);
    }
  });

  test('has no index that a link leads to', async () => {
    const repository = on.repository('proj');
    const index = join(repository, '.git', 'index');
    rmSync(index);
    symlinkSync(join(on.outside, 'file'), index);
    await on.copy('sub', { of: repository });
    const [name = ''] = readdirSync(join(repository, '.git', 'worktrees'));
    expect(existsSync(join(repository, '.git', 'worktrees', name, 'index'))).toBe(false);
  });

  test('is one with a worktree where nothing leads elsewhere', async () => {
    const repository = on.repository('proj');
    const { folder } = await on.copy('sub', { of: repository });
    expect(readFileSync(join(folder, '.git'), 'utf8')).toBe(
      `gitdir: ${join(repository, '.git', 'worktrees', 'holdfast-sub')}\n`,
    );
    expect(readdirSync(join(repository, '.git', 'worktrees', 'holdfast-sub')).sort()).toEqual([
      ...['HEAD', 'commondir', 'gitdir', 'index'],
    ]);
  });
});

test('a folder that becomes a link while it is opened is not followed', () => {
  on.write('proj/x', 'x\n');
  on.link(on.outside, 'proj');
  expect(() => new Inside(join(on.work, 'proj'))).toThrow();
  on.link(on.base, 'above');
  expect(() => new Inside(join(on.work, 'above', 'outside'))).toThrow(/leads elsewhere/);
  new Inside(on.outside)[Symbol.dispose]();
});

test.each<[string, () => string]>([
  ['outside of the sandbox', () => join(on.outside, 'file')],
  ['by a way with ".."', () => `../${basename(on.outside)}/file`],
  ['behind a link', () => (on.link(join(on.outside, 'file'), 'led.md'), 'led.md')],
  ['behind a link to its folder', () => (on.link(on.outside, 'led'), 'led/file')],
  ['that is hidden', () => 'secrets/key'],
  ['of Holdfast’s data', () => join(on.data, 'gateway', 'tokens.json')],
  ['of the system’s secrets', () => '/etc/shadow'],
])('a file %s is not read into a context', async (_title, pathOf) => {
  const path = pathOf();
  expect(await readContext(on.work, [path], on.reachOf('agent'))).toBeNull();
  on.isConfined = false;
  if (!path.startsWith(on.data))
    expect(await readContext(on.work, [path], on.reachOf('agent'))).not.toBeNull();
});

test('a file that the agent may read is read into its context', async () => {
  const text = await readContext(on.work, ['a.txt', join(on.shown, 'file')], on.reachOf('agent'));
  expect(text).toContain('a\n</file>');
  expect(text).toContain('shown');
});

test('without a sandbox all but Holdfast’s own data may be read and written', async () => {
  on.isConfined = false;
  expect(await on.workspaces.checkpoint({ cwd: on.outside, agent: 'agent' })).toMatchObject({
    state: 'kept',
  });
  expect(await on.workspaces.checkpoint({ cwd: join(on.data, 'gateway'), agent: 'agent' })).toMatchObject({
    state: 'off',
    reason: expect.stringContaining("Holdfast's data folder") as string,
  });
  expect(
    await readContext(on.work, [join(on.data, 'gateway', 'tokens.json')], on.reachOf('agent')),
  ).toBeNull();
});

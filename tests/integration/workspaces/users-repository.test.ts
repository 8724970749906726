// The user's repository: what it ignores is not recorded, and nothing of it is changed, run or obeyed.
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { everythingIn, TestWorkspace } from './workspace';

let work: TestWorkspace;
const at = (path: string): string => join(work.cwd, path);
beforeEach(() => {
  work = new TestWorkspace();
});
afterEach(() => work.end());

const recorded = (hash: string): string[] =>
  work.git('ls-tree', '-r', '--name-only', '-z', hash).split('\0').filter(Boolean);
const contentOf = (hash: string, path: string): string => work.git('show', `${hash}:${path}`);

test('contents are recorded and restored byte for byte, whatever attributes, filters and encodings say', async () => {
  work.userGit('init', '-q');
  const mark = join(work.base, 'a-filter-ran');
  for (const step of ['clean', 'smudge', 'process'])
    work.userGit('config', `filter.spy.${step}`, `touch ${mark}; cat`);
  work.userGit('config', 'core.autocrlf', 'true');
  work.write('.gitattributes', '* text eol=crlf ident filter=spy\n*.u16 working-tree-encoding=UTF-16\n');
  const files = {
    'unix.txt': 'a\nb\n',
    'dos.txt': 'a\r\nb\r\n',
    'ident.txt': '$Id$\n',
    'x.u16': 'not UTF-16',
  };
  for (const [path, content] of Object.entries(files)) work.write(path, content);
  const { hash } = await work.checkpoint();
  for (const [path, content] of Object.entries(files)) expect(contentOf(hash, path)).toBe(content);
  for (const path of Object.keys(files)) work.write(path, 'other');
  await work.rewind(hash);
  for (const [path, content] of Object.entries(files)) expect(readFileSync(at(path), 'utf8')).toBe(content);
  expect(existsSync(mark)).toBe(false);
});

test('index, hooks, configuration and objects of the repository stay as they are, and nothing of it runs', async () => {
  work.userGit('init', '-q');
  const mark = join(work.base, 'it-ran');
  for (const hook of ['post-index-change', 'pre-commit', 'reference-transaction', 'post-checkout'])
    work.write(`.git/hooks/${hook}`, `#!/bin/sh\ntouch ${mark}\n`, 0o755);
  work.write('fsmonitor', `#!/bin/sh\ntouch ${mark}\n`, 0o755);
  work.userGit('config', 'diff.external', `touch ${mark}`);
  work.write('a.txt', 'a\n');
  work.userGit('add', 'a.txt');
  work.userGit('commit', '-q', '-m', 'one', '--no-verify');
  rmSync(mark, { force: true });
  work.userGit('config', 'core.fsmonitor', at('fsmonitor'));
  work.userGit('config', 'core.hooksPath', at('.git/hooks'));
  const before = everythingIn(at('.git'));
  const one = await work.checkpoint();
  work.write('a.txt', 'b\n');
  work.write('b.txt', 'b\n');
  const two = await work.checkpoint();
  await work.workspaces.diff({ from: one.hash, to: two.hash, maxBytes: 1_000 });
  await work.rewind(one.hash);
  expect(everythingIn(at('.git'))).toEqual(before);
  expect(existsSync(mark)).toBe(false);
});

test('variables of the environment lead git nowhere else', async () => {
  const wrong = join(work.base, 'wrong');
  const names = [
    'GIT_DIR',
    'GIT_WORK_TREE',
    'GIT_INDEX_FILE',
    'GIT_OBJECT_DIRECTORY',
    'HOME',
    'XDG_CONFIG_HOME',
  ];
  const before = names.map((name) => process.env[name]);
  for (const name of names) process.env[name] = wrong;
  try {
    work.write('a.txt', 'a\n');
    await work.checkpoint();
  } finally {
    for (const [at, name] of names.entries())
      if (before[at] === undefined) delete process.env[name];
      else process.env[name] = before[at];
  }
  expect(existsSync(wrong)).toBe(false);
});

test('what .gitignore and info/exclude name is left out, also from folders above the workspace', async () => {
  work.userGit('init', '-q');
  work.write('.gitignore', '/pkg/from-above\n');
  work.write('.git/info/exclude', 'excluded\nexcluded-folder/\n');
  for (const path of ['from-above', 'excluded', '.gitignore', 'seen', 'excluded-folder/x', 'sub/excluded'])
    work.write(`pkg/${path}`, path === '.gitignore' ? 'own\n' : 'x');
  work.write('pkg/own', 'x');
  work.write('beside', 'x');
  mkdirSync(at('pkg/excluded-folder/empty'));
  mkdirSync(at('pkg/hollow'));
  const pkg = await work.checkpoint('a', at('pkg'));
  expect(recorded(pkg.hash)).toEqual(['.gitignore', 'seen']);
  expect(work.git('log', '-1', '--format=%B', pkg.hash)).toContain('"empty":["hollow","sub"]');
});

test('a tracked file is recorded though a pattern ignores it', async () => {
  work.userGit('init', '-q');
  work.write('.gitignore', '*.lock\nvendor/\n');
  work.write('tracked.lock', '1');
  work.write('vendor/kept.js', '1');
  work.write('other.lock', '1');
  work.write('vendor/other.js', '1');
  work.userGit('add', '-f', 'tracked.lock', 'vendor/kept.js');
  const one = await work.checkpoint();
  expect(recorded(one.hash)).toEqual(['.gitignore', 'tracked.lock', 'vendor/kept.js']);
  work.write('tracked.lock', '2');
  expect((await work.checkpoint()).changes).toEqual({ added: 0, modified: 1, deleted: 0 });
  await work.rewind(one.hash);
  expect(readFileSync(at('tracked.lock'), 'utf8')).toBe('1');
});

test('patterns of `include` record ignored files, in ignored folders too, and nothing else of them', async () => {
  work.userGit('init', '-q');
  work.workspaces = work.withSettings({ include: ['.env', 'node_modules/mine/**', '/build/keep.txt'] });
  work.write('.gitignore', '.env\nnode_modules/\nbuild\n');
  const paths = [
    '.env',
    'a/.env',
    'node_modules/mine/x.js',
    'node_modules/other/y.js',
    'build/keep.txt',
    'build/other',
  ];
  for (const path of paths) work.write(path, '1');
  const { hash } = await work.checkpoint();
  expect(recorded(hash)).toEqual([
    '.env',
    '.gitignore',
    'a/.env',
    'build/keep.txt',
    'node_modules/mine/x.js',
  ]);
});

test('repositories in the workspace are recorded as files, without their .git', async () => {
  work.userGit('init', '-q');
  work.write('a.txt', 'a');
  work.write('sub/b.txt', 'b');
  work.userGit('init', '-q', 'sub');
  work.write('sub/.gitignore', 'ignored\n');
  work.write('sub/ignored', 'x');
  work.userGit('init', '-q', 'sub/deep');
  work.write('sub/deep/c.txt', 'c');
  const one = await work.checkpoint();
  expect(recorded(one.hash)).toEqual(['a.txt', 'sub/.gitignore', 'sub/b.txt', 'sub/deep/c.txt']);
  work.write('sub/deep/d.txt', 'd');
  work.write('sub/new/e.txt', 'e');
  const two = await work.checkpoint();
  expect(two.changes).toEqual({ added: 2, modified: 0, deleted: 0 });
  await work.rewind(one.hash);
  expect(existsSync(at('sub/.git/HEAD'))).toBe(true);
  expect((await work.checkpoint()).hash).toBe(one.hash);
});

test('a .git file that names another place is read as text only', async () => {
  const elsewhere = join(work.base, 'elsewhere');
  mkdirSync(join(elsewhere, 'info'), { recursive: true });
  writeFileSync(join(elsewhere, 'HEAD'), 'ref: refs/heads/main\n');
  writeFileSync(join(elsewhere, 'info', 'exclude'), 'by-exclude\n');
  writeFileSync(join(elsewhere, 'config'), '[core]\n\tworktree = /\n\tfsmonitor = touch /tmp/never\n');
  symlinkSync('/etc/hostname', join(elsewhere, 'index'));
  work.write('.git', `gitdir: ${elsewhere}\n`);
  work.write('by-exclude', 'x');
  work.write('a.txt', 'x');
  const before = everythingIn(elsewhere);
  const { hash } = await work.checkpoint();
  expect(recorded(hash)).toEqual(['a.txt']);
  expect(everythingIn(elsewhere)).toEqual(before);
});

test('a host whose checkpoints are off takes none, and says so', async () => {
  work.write('a.txt', 'a');
  expect(await work.withSettings({ enabled: 'off' }).checkpoint({ cwd: work.cwd, agent: 'a' })).toEqual({
    state: 'off',
    reason: expect.stringMatching(/`enabled` in \[checkpoints\]/) as string,
  });
});

test.each(['build/', '*', '/build'])(
  'a workspace that the repository around it ignores (%s) is recorded like one without a repository',
  async (rule) => {
    work.userGit('init', '-q');
    work.write('.gitignore', `${rule}\n`);
    work.write('build/inner/.gitignore', '*.log\n');
    work.write('build/inner/a.txt', 'one');
    const cwd = join(work.cwd, 'build', 'inner');
    const one = await work.checkpoint('a', cwd);
    work.write('build/inner/a.txt', 'two');
    work.write('build/inner/new.txt', 'new');
    work.write('build/inner/a.log', 'ignored');
    const two = await work.checkpoint('a', cwd);
    expect(two.changes).toEqual({ added: 1, modified: 1, deleted: 0 });
    await work.rewind(one.hash, { cwd, expected: two.hash });
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('one');
    expect([existsSync(join(cwd, 'new.txt')), existsSync(join(cwd, 'a.log'))]).toEqual([false, true]);
  },
);

test('a workspace that the repository’s own exclude file ignores is recorded, too', async () => {
  work.userGit('init', '-q');
  work.write('.git/info/exclude', 'scratch/\n');
  work.write('scratch/a.txt', 'one');
  expect(await work.checkpoint('a', join(work.cwd, 'scratch'))).toMatchObject({ files: 1 });
});

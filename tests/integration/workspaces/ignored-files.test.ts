// Files that the ignore rules of the state to bring back hide: it says nothing of them, so a rewind does not delete them.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TestWorkspace } from './workspace';

let work: TestWorkspace;
const at = (path: string): string => join(work.cwd, path);
beforeEach(() => {
  work = new TestWorkspace();
  work.userGit('init', '-q');
});
afterEach(() => work.end());

/** How files came to be recorded that were ignored before. */
const WAYS: [string, () => void][] = [
  ['the rule was removed', () => work.write('.gitignore', '')],
  ['they were added by force', () => void work.userGit('add', '-f', '.env', 'cache/deep/b', 'sub/c.key')],
  ['the file with the rules was removed', () => work.remove('.gitignore')],
];

test.each(WAYS)(
  'an ignored file that was recorded later, since %s, survives a rewind',
  async (_how, record) => {
    work.write('.gitignore', '.env\ncache/\n*.key\n');
    work.write('a', 'one');
    work.write('.env', 'SECRET=1', 0o640);
    work.write('cache/deep/b', 'cached');
    work.write('sub/c.key', 'key');
    const one = await work.checkpoint();
    expect(one.files).toBe(2);
    record();
    work.write('a', 'two');
    work.write('new', 'of the agent');
    const two = await work.checkpoint();
    expect(two.files).toBeGreaterThanOrEqual(5);
    const looked = await work.rewind(one.hash, { expected: two.hash, dryRun: true });
    const rewound = await work.rewind(one.hash, { expected: two.hash });
    expect(rewound.changes).toEqual(looked.changes);
    expect(rewound.changes.paths.filter(({ kind }) => kind === 'deleted').map(({ path }) => path)).toEqual([
      'new',
    ]);
    expect(['.env', 'cache/deep/b', 'sub/c.key', 'a'].map((path) => readFileSync(at(path), 'utf8'))).toEqual([
      ...['SECRET=1', 'cached', 'key', 'one'],
    ]);
    expect(readFileSync(at('.gitignore'), 'utf8')).toBe('.env\ncache/\n*.key\n');
    expect((await work.checkpoint()).hash).toBe(rewound.hash);
    await work.rewind(two.hash, { expected: rewound.hash });
    expect((await work.checkpoint()).hash).toBe(two.hash);
  },
);

test('rules above the workspace and in folders of it count; files that were recorded though ignored do not', async () => {
  work.workspaces = work.withSettings({ include: ['dist/'] });
  writeFileSync(at('.gitignore'), '*.log\ndist/\n');
  mkdirSync(at('sub/inner'), { recursive: true });
  const cwd = at('sub');
  writeFileSync(join(cwd, 'inner/.gitignore'), 'only-here\n');
  for (const path of ['a.log', 'inner/only-here']) writeFileSync(join(cwd, path), 'ignored');
  const one = await work.checkpoint('a', cwd);
  rmSync(join(cwd, 'inner/.gitignore'));
  work.userGit('add', '-f', 'sub/a.log');
  mkdirSync(join(cwd, 'dist'));
  for (const path of ['only-here', 'dist/made', 'dist/made.log']) writeFileSync(join(cwd, path), 'new');
  const two = await work.checkpoint('a', cwd);
  await work.rewind(one.hash, { cwd, expected: two.hash });
  const left = ['a.log', 'inner/only-here', 'inner/.gitignore', 'only-here', 'dist/made', 'dist/made.log'];
  expect(left.map((path) => existsSync(join(cwd, path)))).toEqual([true, true, true, false, false, false]);
});

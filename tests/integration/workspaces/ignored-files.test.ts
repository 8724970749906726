// Files that a rewind leaves alone: the ignore rules of the state to bring back hide them, or no checkpoint holds them.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AgentsWithFiles, run } from './agents-with-files';
import { everythingIn, TestWorkspace } from './workspace';

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

describe('a file that no checkpoint holds', () => {
  const NOTHING = { added: 0, modified: 0, deleted: 0 };
  beforeEach(() => {
    work.workspaces = work.withSettings({ maxFileBytes: 10 });
  });

  test('is named by a rewind where it is missing, has changed or was not there, and counts as no change', async () => {
    for (const path of ['missing', 'changed', 'same', 'small']) work.write(path, 'a large file');
    work.write('a', 'one');
    const { hash: one } = await work.checkpoint();
    work.remove('missing');
    work.write('changed', 'another large one');
    work.write('small', 'small');
    work.write('later', 'a large file');
    work.write('a', 'two');
    const { hash: two } = await work.checkpoint();
    const notRestored = {
      count: 4,
      first: [
        { path: 'changed', why: 'it has changed since' },
        { path: 'later', why: 'it was not there, or ignored' },
        { path: 'missing', why: 'it is missing' },
        { path: 'small', why: 'it has changed since' },
      ],
    };
    const dry = await work.rewind(one, { expected: two, dryRun: true });
    expect(dry).toMatchObject({ notRestored, changes: { counts: { ...NOTHING, modified: 1 } } });
    expect(await work.rewind(one, { expected: two })).toMatchObject({ notRestored, changes: dry.changes });
    expect([existsSync(at('later')), readFileSync(at('small'), 'utf8')]).toEqual([true, 'small']);
    expect(await work.rewind(one, { expected: two })).toMatchObject({
      notRestored,
      changes: { counts: NOTHING, paths: [] },
    });
  });

  test('is not named where it is as it was, and is nothing to refuse where somebody else has changed it', async () => {
    work.write('large', 'a large file');
    work.write('a', 'one');
    const { hash: one } = await work.checkpoint();
    work.write('a', 'two');
    const { hash: two } = await work.checkpoint();
    expect(await work.rewind(one, { expected: two, dryRun: true })).not.toHaveProperty('notRestored');
    work.write('large', 'of somebody else');
    expect(await work.rewind(one, { expected: two })).toMatchObject({ notRestored: { count: 1 } });
    expect(readFileSync(at('large'), 'utf8')).toBe('of somebody else');
  });
});

describe('a file that no checkpoint holds, and that an agent has deleted,', () => {
  const agents = new AgentsWithFiles();
  beforeAll(() => {
    agents.engine.configure('[checkpoints]\nmax_file_mb = 1\n');
    return agents.engine.start();
  }, 60_000);
  afterAll(async () => {
    expect(await agents.close()).toEqual([]);
  }, 60_000);
  beforeEach(() => agents.begin());
  afterEach(() => agents.end());

  test('is named by `rewind`, which exits with 3, and its model is told', async () => {
    const large = 'head -c 2000000 /dev/zero';
    const agent = await agents.conversation([
      run(`echo one > a; ${large} > big`),
      run('echo two > a; rm big'),
      { text: 'done' },
      { expect: '1 modified; 1 file is not as it was', text: 'seen' },
    ]);
    await agent.send('write');
    const rewind = ['rewind', agent.id, '--to', '1', '--files'];
    const said = '1 file is not as it was, and cannot be brought back: big (it is missing).';
    for (const args of [[...rewind, '--dry-run'], rewind]) {
      const { code, stderr } = await agents.engine.cliInTurn(args);
      expect([code, stderr]).toEqual([3, expect.stringContaining(said)]);
    }
    const json = await agents.engine.cliInTurn([...rewind, '--json']);
    expect([json.code, JSON.parse(json.stdout)]).toMatchObject([3, { files: { notRestored: { count: 1 } } }]);
    expect(await agent.send('again')).toMatchObject({ answer: 'seen' });
    await agent.stop();
  });
});

describe('what no checkpoint holds and is in the way', () => {
  test.each(['*.log', '/x/keep.log'])(
    'is moved aside, is named, and comes back when the rewind is undone (%s)',
    async (rule) => {
      work.write('.gitignore', `${rule}\n`);
      work.write('x', 'a file');
      const { hash: one } = await work.checkpoint();
      const first = everythingIn(work.cwd);
      work.remove('x');
      work.write('x/keep.log', 'ignored');
      work.write('x/b', 'recorded');
      const { hash: two } = await work.checkpoint();
      const second = everythingIn(work.cwd);

      const rewound = await work.rewind(one, { expected: two });
      const to = readdirSync(work.cwd).find((name) => name.startsWith('x.kept-'));
      expect(rewound.movedAside).toEqual({ count: 1, first: [{ path: 'x', to }] });
      expect(readFileSync(at(`${to}/keep.log`), 'utf8')).toBe('ignored');
      expect(everythingIn(work.cwd, (path) => path === to)).toEqual(first);

      const undone = await work.rewind(two, { expected: rewound.hash });
      expect(undone.movedAside).toBeUndefined();
      expect(everythingIn(work.cwd)).toEqual(second);
      expect((await work.checkpoint()).hash).toBe(two);
      // Again, since the name is another one each time.
      const again = await work.rewind(one, { expected: two });
      await work.rewind(two, { expected: again.hash });
      expect(everythingIn(work.cwd)).toEqual(second);
    },
  );

  test('stays aside where it is too large for a checkpoint: then its place is named as not restored', async () => {
    work.workspaces = work.withSettings({ maxFileBytes: 10 });
    work.write('a', 'small');
    const { hash: one } = await work.checkpoint();
    work.write('a', 'a large file');
    const { hash: two } = await work.checkpoint();
    const rewound = await work.rewind(one, { expected: two });
    expect(rewound.movedAside).toMatchObject({ count: 1, first: [{ path: 'a' }] });
    const undone = await work.rewind(two, { expected: rewound.hash });
    expect(undone.notRestored).toEqual({ count: 1, first: [{ path: 'a', why: 'it has changed since' }] });
    expect(readFileSync(at('a'), 'utf8')).toBe('small');
    expect(readFileSync(at(rewound.movedAside?.first[0]?.to ?? ''), 'utf8')).toBe('a large file');
  });

  test('stays aside where something else has taken its place', async () => {
    work.write('.gitignore', '*.log\n');
    work.write('x', 'a file');
    const { hash: one } = await work.checkpoint();
    work.remove('x');
    work.write('x/keep.log', 'ignored');
    const { hash: two } = await work.checkpoint();
    const rewound = await work.rewind(one, { expected: two });
    work.remove('x');
    work.write('x/keep.log', 'another');
    const { hash: three } = await work.checkpoint();
    await work.rewind(two, { expected: three });
    expect(readFileSync(at('x/keep.log'), 'utf8')).toBe('another');
    expect(readFileSync(at(`${rewound.movedAside?.first[0]?.to}/keep.log`), 'utf8')).toBe('ignored');
  });

  test('is left where the state to bring back holds it under its new name', async () => {
    work.write('.gitignore', '/x/keep.log\n');
    work.write('x', 'a file');
    const { hash: one } = await work.checkpoint();
    work.remove('x');
    work.write('x/keep.log', 'ignored');
    const { hash: two } = await work.checkpoint();
    const { hash: rewound } = await work.rewind(one, { expected: two });
    work.remove('x');
    const { hash: without } = await work.checkpoint();
    const names = readdirSync(work.cwd);
    await work.rewind(rewound, { expected: without });
    const { changes } = await work.rewind(without, { expected: rewound });
    expect(changes.paths.map(({ path }) => path)).toEqual(['x']);
    expect(readdirSync(work.cwd)).toEqual(names);
  });
});

// What differs between checkpoints, as counts, paths and text; who may undo what; copies and merges.
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AppliedChanges } from '../../../workspaces/workspace-choices';
import { everythingIn, ofAgent, TestWorkspace } from './workspace';

let work: TestWorkspace;
const at = (path: string): string => join(work.cwd, path);
beforeEach(() => {
  work = new TestWorkspace();
});
afterEach(() => work.end());

const text = (path: string): string => readFileSync(at(path), 'utf8');

test('changes name each path with its kind and its lines, and so does the checkpoint itself', async () => {
  for (const path of ['a.txt', 'gone.txt', 'mode.txt', 'private.txt']) work.write(path, 'one\ntwo\n');
  mkdirSync(at('hollow'));
  mkdirSync(at('folder/closed'), { recursive: true });
  work.write('folder/closed/x', 'x');
  work.write('bin', Buffer.from([0, 1]));
  const one = await work.checkpoint();
  work.write('a.txt', 'one\n2\nthree\n');
  rmSync(at('gone.txt'));
  chmodSync(at('mode.txt'), 0o755);
  chmodSync(at('private.txt'), 0o600);
  chmodSync(at('folder/closed'), 0o700);
  rmSync(at('hollow'), { recursive: true });
  mkdirSync(at('other-hollow'));
  work.write('bin', Buffer.from([0, 2]));
  work.write('new.txt', 'n\n');
  const two = await work.checkpoint();
  const changes = await work.workspaces.changes({ from: one.hash, to: two.hash });
  expect(changes.counts).toEqual(two.changes);
  expect(changes).toEqual({
    counts: { added: 2, modified: 5, deleted: 2 },
    omitted: 0,
    paths: [
      { path: 'a.txt', kind: 'modified', insertions: 2, deletions: 1 },
      { path: 'bin', kind: 'modified' },
      { path: 'folder/closed/', kind: 'modified' },
      { path: 'gone.txt', kind: 'deleted', insertions: 0, deletions: 2 },
      { path: 'hollow/', kind: 'deleted' },
      { path: 'mode.txt', kind: 'modified', insertions: 0, deletions: 0 },
      { path: 'new.txt', kind: 'added', insertions: 1, deletions: 0 },
      { path: 'other-hollow/', kind: 'added' },
      { path: 'private.txt', kind: 'modified' },
    ],
  });
  expect(await work.workspaces.changes({ from: one.hash, to: two.hash, max: 2 })).toMatchObject({
    omitted: 7,
  });
  const { counts } = await work.workspaces.changes({ from: null, to: one.hash });
  expect(counts).toEqual({ added: 7, modified: 0, deleted: 0 });
  const { text: diff } = await work.workspaces.diff({ from: one.hash, to: two.hash, maxBytes: 100_000 });
  for (const line of [
    '-two',
    '+three',
    'old mode 100644',
    'Binary files',
    'new empty folder "other-hollow/"',
  ])
    expect(diff).toContain(line);
  expect(diff).toContain('mode 644 => 600 "private.txt"');
  expect(diff).toContain('mode 755 => 700 "folder/closed/"');
});

test('a diff is cut at the end of a line, and can be of some paths', async () => {
  work.write('a.txt', 'a\n'.repeat(1_000));
  work.write('dir/b.txt', 'b\n');
  work.write('*.txt', 'star\n');
  const { hash } = await work.checkpoint();
  const cut = await work.workspaces.diff({ from: null, to: hash, maxBytes: 500 });
  expect(cut.isCut).toBe(true);
  expect(cut.text.length).toBeLessThanOrEqual(500);
  expect(cut.text.endsWith('\n')).toBe(true);
  const some = await work.workspaces.diff({
    from: null,
    to: hash,
    maxBytes: 10_000,
    paths: ['dir', '*.txt'],
  });
  expect(some.isCut).toBe(false);
  expect(some.text.match(/^\+\+\+ .*/gm)).toEqual(['+++ b/*.txt', '+++ b/dir/b.txt']);
});

test('a rewind refuses with the paths that somebody else changed, and only those that it would change', async () => {
  for (const path of ['a.txt', 'b.txt', 'c.txt']) work.write(path, 'one');
  const one = await work.checkpoint();
  work.write('a.txt', 'by the agent');
  const two = await work.checkpoint();
  work.write('a.txt', 'by a person');
  work.write('b.txt', 'by a person');
  const before = everythingIn(work.cwd);
  const refused = work.rewind(one.hash, { expected: two.hash });
  await expect(refused).rejects.toMatchObject({
    code: 'workspace_changed',
    effect: 'none',
    facts: { got: 'a.txt, b.txt', count: 2 },
  });
  expect(everythingIn(work.cwd)).toEqual(before);
  const three = await work.checkpoint();
  const foreign = [[two.hash, three.hash]] as const;
  const again = work.rewind(one.hash, { expected: three.hash, foreign });
  await expect(again).rejects.toMatchObject({ facts: { got: 'a.txt, b.txt' } });
  // What they changed and this does not touch is no reason.
  work.write('c.txt', 'by the agent');
  const four = await work.checkpoint();
  await work.rewind(three.hash, { expected: four.hash, foreign });
  const forced = await work.rewind(one.hash, { expected: three.hash, foreign, force: true });
  expect(text('a.txt')).toBe('one');
  await work.rewind(forced.before);
  expect(text('a.txt')).toBe('by a person');
});

test('a dry run says what a rewind would do and does nothing', async () => {
  work.write('a.txt', 'one\n');
  const one = await work.checkpoint();
  work.write('a.txt', 'two\n');
  const dry = await work.rewind(one.hash, { dryRun: true });
  expect(dry.changes.paths).toEqual([{ path: 'a.txt', kind: 'modified', insertions: 1, deletions: 1 }]);
  expect(text('a.txt')).toBe('two\n');
  expect(await work.rewind(one.hash)).toEqual(dry);
});

test('an id that is none, or of no checkpoint, is refused', async () => {
  work.write('a.txt', 'a');
  const { hash } = await work.checkpoint();
  const tree = work.git('rev-parse', `${hash}^{tree}`).trim();
  for (const wrong of ['', 'HEAD', '--all', hash.slice(0, 10), '0'.repeat(40), tree, `${hash}\n`])
    await expect(work.rewind(wrong)).rejects.toMatchObject({ code: 'checkpoint_missing', effect: 'none' });
});

test('a copy has all files, is a workspace of its own, and shares contents with the first', async () => {
  work.userGit('init', '-q');
  work.write('.gitignore', '*.lock\n');
  work.write('tracked.lock', '1');
  work.userGit('add', '-f', 'tracked.lock');
  work.write('dir/a.txt', 'a', 0o640);
  mkdirSync(at('hollow'));
  symlinkSync('dir', at('link'));
  const one = await work.checkpoint();
  const folder = join(work.base, 'copies', 'b');
  await work.workspaces.checkout({ hash: one.hash, folder, agent: 'b', of: ofAgent(work.cwd) });
  expect(everythingIn(folder)).toEqual(everythingIn(work.cwd));
  const copied = await work.checkpoint('b', folder);
  expect(copied).toMatchObject({ hash: one.hash, files: 4 });
  await work.workspaces.checkout({ hash: one.hash, folder, agent: 'b', of: ofAgent(work.cwd) });
  writeFileSync(join(folder, 'tracked.lock'), '2');
  expect((await work.checkpoint('b', folder)).changes).toEqual({ added: 0, modified: 1, deleted: 0 });
  await expect(
    work.workspaces.checkout({ hash: one.hash, folder, agent: 'c', of: ofAgent(work.cwd) }),
  ).rejects.toMatchObject({
    code: 'invalid_input',
  });
});

async function forked(): Promise<{ base: string; folder: string }> {
  work.write('text.txt', ['1', '2', '3', '4', '5', '6', '7', '8', '9', ''].join('\n'));
  work.write('gone.txt', 'x');
  work.write('theirs.txt', 'x');
  work.write('bin', Buffer.from([0, 1]));
  const { hash } = await work.checkpoint();
  const folder = join(work.base, 'copy');
  await work.workspaces.checkout({ hash, folder, agent: 'b', of: ofAgent(work.cwd) });
  return { base: hash, folder };
}

test('changes of a copy are brought back, line by line where both changed a text', async () => {
  const { base, folder } = await forked();
  work.write('text.txt', text('text.txt').replace('1', 'one'));
  work.write('ours.txt', 'ours');
  writeFileSync(
    join(folder, 'text.txt'),
    readFileSync(join(folder, 'text.txt'), 'utf8').replace('9', 'nine'),
  );
  rmSync(join(folder, 'gone.txt'));
  writeFileSync(join(folder, 'theirs.txt'), 'changed');
  chmodSync(join(folder, 'theirs.txt'), 0o755);
  mkdirSync(join(folder, 'hollow'));
  const theirs = await work.checkpoint('b', folder);
  const choice = { cwd: work.cwd, agent: 'a', key: 'call', base, theirs: theirs.hash };
  const before = everythingIn(work.cwd);
  const dry = await work.workspaces.applyChanges({ ...choice, dryRun: true });
  expect(everythingIn(work.cwd)).toEqual(before);
  const applied = await work.workspaces.applyChanges({ ...choice, dryRun: false });
  expect(applied).toEqual(dry);
  expect(applied).toMatchObject({
    conflicts: [],
    applied: { counts: { added: 1, modified: 2, deleted: 1 } },
  });
  expect(text('text.txt')).toBe('one\n2\n3\n4\n5\n6\n7\n8\nnine\n');
  expect([text('ours.txt'), text('theirs.txt'), existsSync(at('gone.txt'))]).toEqual([
    'ours',
    'changed',
    false,
  ]);
  expect((await work.checkpoint()).hash).toBe(applied.hash);
  expect(await work.workspaces.applyChanges({ ...choice, dryRun: false })).toEqual(applied);
  const another = await work.workspaces.applyChanges({ ...choice, key: 'another call', dryRun: false });
  expect(another.applied.counts).toEqual({ added: 0, modified: 0, deleted: 0 });
});

test('with conflicts nothing is applied, and each is named with its reason', async () => {
  const { base, folder } = await forked();
  const other = (path: string, content: string | Buffer): void => writeFileSync(join(folder, path), content);
  work.write('text.txt', text('text.txt').replace('5', 'five'));
  other('text.txt', readFileSync(join(folder, 'text.txt'), 'utf8').replace('5', 'FIVE'));
  rmSync(at('gone.txt'));
  other('gone.txt', 'changed');
  work.write('theirs.txt', 'changed');
  rmSync(join(folder, 'theirs.txt'));
  work.write('bin', Buffer.from([0, 2]));
  other('bin', Buffer.from([0, 3]));
  work.write('added', 'ours');
  other('added', 'theirs');
  work.write('place/inner', 'a folder');
  other('place', 'a file');
  other('fine.txt', 'no conflict');
  const theirs = await work.checkpoint('b', folder);
  const before = everythingIn(work.cwd);
  const { conflicts, applied } = await work.workspaces.applyChanges({
    ...{ cwd: work.cwd, agent: 'a', base, theirs: theirs.hash, dryRun: false },
  });
  expect(Object.fromEntries(conflicts.map(({ path, why }) => [path, why]))).toEqual({
    'text.txt': 'both sides changed the same lines',
    'gone.txt': 'it was deleted here and changed there',
    'theirs.txt': 'it was changed here and deleted there',
    bin: 'both sides changed it, and it is not text',
    added: 'both sides added it, with different contents',
    place: 'it is a folder here and a file there',
  });
  expect(applied.counts).toEqual({ added: 0, modified: 0, deleted: 0 });
  expect(everythingIn(work.cwd)).toEqual(before);
});

describe('what a copy’s agent (there) and its parent (here) did to files and folders', () => {
  /** Applies what commands did in the copy to what others did in the workspace meanwhile. */
  async function applied(commands: { there: string; here: string }): Promise<AppliedChanges> {
    work.workspaces = work.withSettings({ maxFileBytes: 1_000 });
    work.write('d/only', 'x');
    mkdirSync(at('hollow'));
    const { hash: base } = await work.checkpoint();
    const folder = join(work.base, 'copy');
    await work.workspaces.checkout({ hash: base, folder, agent: 'b', of: ofAgent(work.cwd) });
    execFileSync('sh', ['-ec', commands.there], { cwd: folder });
    execFileSync('sh', ['-ec', commands.here], { cwd: work.cwd });
    const { hash: theirs } = await work.checkpoint('b', folder);
    return work.workspaces.applyChanges({ cwd: work.cwd, agent: 'a', base, theirs, dryRun: false });
  }
  const isFile = 'it is a file here and a folder there';
  const isFolder = 'it is a folder here and a file there';

  test.each([
    ['mkdir out', 'echo x > out', 'out', isFile],
    ['mkdir out', 'truncate -s 2000 out', 'out', isFile],
    ['mkdir -p out/inner', 'echo x > out', 'out/inner', 'a folder on its way is a file here'],
    ['rm d/only', 'rm -r d; echo x > d', 'd', isFile],
    ['echo x > out', 'mkdir out', 'out', isFolder],
    ['echo x > out', 'mkdir -p out/inner', 'out', isFolder],
    ['echo x > out', 'mkdir out; truncate -s 2000 out/large', 'out', isFolder],
    ['rmdir hollow; echo x > hollow', 'truncate -s 2000 hollow/large', 'hollow', isFolder],
  ])(
    'is a conflict where one is in the other’s place, and nothing is changed: there %s, here %s',
    async (there, here, path, why) => {
      const { conflicts, applied: changes } = await applied({ there, here: `${here}; ls -lR > ../before` });
      expect(conflicts).toEqual([{ path, why }]);
      expect(changes.paths).toEqual([]);
      expect(execFileSync('ls', ['-lR'], { cwd: work.cwd, encoding: 'utf8' })).toBe(
        readFileSync(join(work.base, 'before'), 'utf8'),
      );
    },
  );

  test.each([
    ['rm d/only', 'echo x > d/new', ['d/only deleted'], ['d', 'd/new', 'hollow']],
    ['mkdir -p out/inner', 'mkdir out', ['out/ deleted', 'out/inner/ added'], ['out', 'out/inner']],
    ['mkdir out', 'mkdir -p out/inner', [], ['out', 'out/inner']],
    ['mkdir out', 'mkdir out; echo x > out/new', [], ['out', 'out/new']],
    ['rmdir hollow; echo x > hollow', 'true', ['hollow added', 'hollow/ deleted'], ['hollow']],
    ['echo x > hollow/new', 'true', ['hollow/ deleted', 'hollow/new added'], ['hollow/new']],
    ['rm -r d; echo x > d', 'true', ['d added', 'd/only deleted'], ['d']],
  ])('comes together where it can: there %s, here %s', async (there, here, paths, files) => {
    const result = await applied({ there, here });
    expect(result.conflicts).toEqual([]);
    expect(result.applied.paths.map(({ path, kind }) => `${path} ${kind}`)).toEqual(paths);
    expect(Object.keys(everythingIn(work.cwd))).toEqual(expect.arrayContaining(files));
    expect((await work.checkpoint()).hash).toBe(result.hash);
  });
});

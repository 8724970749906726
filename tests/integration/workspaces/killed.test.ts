// A process that is killed in the middle of a checkpoint, a rewind, a checkout or a merge: the next one finds it done or
// not begun, never half of it.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { CrashPoint } from '../../../system/faults/crash-point';
import { runDist } from '../../helpers/engines/dist-process';
import { count } from '../../helpers/run/long-run';
import { everythingIn, ofAgent, TestWorkspace } from './workspace';

let work: TestWorkspace;
const at = (path: string): string => join(work.cwd, path);
beforeEach(() => {
  work = new TestWorkspace();
});
afterEach(() => work.end());

/** A process that does one thing with the workspace, and is killed at a point. */
function other(method: string, choice: object, point?: CrashPoint): ReturnType<typeof runDist> {
  const armed = join(work.base, 'crash-point');
  if (point) writeFileSync(armed, point);
  const body = `const { Workspaces } = load('workspaces/workspaces');
    const { DEFAULT_CHECKPOINTS } = load('contracts/workspaces/settings');
    load('system/faults/crash-point').armCrashPoint(args[3]);
    const workspaces = new Workspaces({ folder: args[0], settings: DEFAULT_CHECKPOINTS, reachOf: () => load('contracts/workspaces/file-reach').WITHOUT_LIMITS, log() {} });
    console.log('begun');
    console.log(JSON.stringify(await workspaces[args[1]](JSON.parse(args[2]))));`;
  return runDist(body, work.folder, method, JSON.stringify({ cwd: work.cwd, agent: 'a', ...choice }), armed);
}

const REWIND = { key: 'killed', foreign: [], force: false, dryRun: false };

/** Two states with every kind of difference; the second is what is there. */
async function twoStates(): Promise<{ one: string; two: string; first: object; second: object }> {
  for (let n = 0; n < 40; n++) work.write(`dir/f${n}.txt`, `${n}\n`);
  work.write('a', 'a file');
  work.write('b/inner', 'a folder');
  mkdirSync(at('hollow'));
  const { hash: one } = await work.checkpoint();
  const first = everythingIn(work.cwd);
  for (let n = 0; n < 40; n += 2) work.write(`dir/f${n}.txt`, `changed\n`);
  rmSync(at('a'));
  work.write('a/inner', 'a folder');
  rmSync(at('b'), { recursive: true });
  work.write('b', 'a file');
  rmSync(at('hollow'), { recursive: true });
  work.write('new/deep/file', 'new');
  const { hash: two } = await work.checkpoint();
  return { one, two, first, second: everythingIn(work.cwd) };
}

test.each(['checkpoint-read', 'checkpoint-stored'] as const)(
  'a checkpoint that is killed at %s is taken whole by the next process',
  async (point) => {
    work.write('a.txt', 'a');
    const one = await work.checkpoint();
    work.write('b.txt', 'b');
    const killed = other('checkpoint', {}, point);
    await killed.ended;
    expect(killed.child.signalCode).toBe('SIGKILL');
    const two = await work.checkpoint();
    expect(two.changes).toEqual({ added: 1, modified: 0, deleted: 0 });
    expect(work.git('show', `${two.hash}:b.txt`)).toBe('b');
    await work.rewind(one.hash);
    expect(existsSync(at('b.txt'))).toBe(false);
    expect(work.git('fsck', '--strict', '--no-dangling')).toBe('');
  },
);

test.each(['rewind-half', 'rewind-applied', 'rewind-recorded'] as const)(
  'what a rewind moved aside that was killed at %s is in the answer when it is asked again, and comes back',
  async (point) => {
    work.write('.gitignore', '*.log\n');
    for (const name of ['x', 'y']) work.write(name, 'a file');
    const { hash: one } = await work.checkpoint();
    for (const name of ['x', 'y']) {
      work.remove(name);
      work.write(`${name}/keep.log`, 'ignored');
    }
    const { hash: two } = await work.checkpoint();
    const choice = { ...REWIND, to: one, expected: two };
    await other('rewind', choice, point).ended;
    const again = await work.rewind(one, choice);
    expect(again.movedAside).toMatchObject({ count: 2, first: [{ path: 'x' }, { path: 'y' }] });
    await work.rewind(two, { expected: again.hash });
    expect(['x', 'y'].map((name) => readFileSync(at(`${name}/keep.log`), 'utf8'))).toEqual([
      'ignored',
      'ignored',
    ]);
  },
);

test.each(['rewind-journalled', 'rewind-half', 'rewind-applied', 'rewind-recorded'] as const)(
  'a rewind that is killed at %s is finished by the next process, and gives its answer when it is asked again',
  async (point) => {
    const { one, two, first } = await twoStates();
    const choice = { ...REWIND, to: one, expected: two };
    const expected = await work.rewind(one, { expected: two, dryRun: true });
    const killed = other('rewind', choice, point);
    await killed.ended;
    expect(killed.child.signalCode).toBe('SIGKILL');
    expect(await work.checkpoint()).toMatchObject({ hash: one });
    expect(everythingIn(work.cwd)).toEqual(first);
    const again = await work.rewind(one, { expected: two });
    expect(again).toEqual(expected);
    expect(everythingIn(work.cwd)).toEqual(first);
    await work.rewind(two);
    expect((await work.checkpoint()).hash).toBe(two);
  },
);

test('a rewind that is killed is finished when the next process begins, before anybody asks; its answer is kept for the next who does', async () => {
  const { one, two, first } = await twoStates();
  await other('rewind', { ...REWIND, to: one, expected: two }, 'rewind-half').ended;
  await work.withSettings({}).finishBegun();
  expect(everythingIn(work.cwd)).toEqual(first);
  expect(await work.rewind(one, { key: 'another', expected: two })).toMatchObject({ before: two });
  expect(await work.rewind(one, { key: 'a third', expected: two })).toMatchObject({ before: one });
});

test('a rewind that is killed at any moment is done whole or not at all', async () => {
  const { one, two, first, second } = await twoStates();
  for (let round = 0; round < count(12, 200); round++) {
    const killed = other('rewind', { ...REWIND, to: one, expected: two });
    await killed.nextLine();
    await delay((round * 7) % 90);
    killed.child.kill('SIGKILL');
    await killed.ended;
    const { hash } = await work.checkpoint();
    expect([one, two]).toContain(hash);
    expect(everythingIn(work.cwd)).toEqual(hash === one ? first : second);
    expect(await work.rewind(one, { key: 'killed', expected: two })).toMatchObject({
      hash: one,
      before: two,
    });
    await work.rewind(two, { expected: one });
  }
}, 300_000);

describe('what somebody changed since a rewind was killed', () => {
  const THEIRS = { 'dir/f0.txt': 'of a person', 'a/inner': 'of a person', 'dir/more.txt': 'of a person' };

  async function killedAndChanged(): Promise<{ one: string; two: string; first: object }> {
    const states = await twoStates();
    await other('rewind', { ...REWIND, to: states.one, expected: states.two }, 'rewind-half').ended;
    // `a` is a file again by now.
    rmSync(at('a'), { force: true, recursive: true });
    for (const [path, content] of Object.entries(THEIRS)) work.write(path, content);
    return states;
  }
  const theirs = (): object =>
    Object.fromEntries(Object.keys(THEIRS).map((path) => [path, readFileSync(at(path), 'utf8')]));

  test('stays as it is when another agent takes its first checkpoint; the rest of the rewind is done', async () => {
    await killedAndChanged();
    await work.checkpoint('b');
    expect(theirs()).toEqual(THEIRS);
    expect(readFileSync(at('dir/f38.txt'), 'utf8')).toBe('38\n');
    expect(existsSync(at('new'))).toBe(false);
    expect(work.logged.join()).toMatch(/since a rewind began stay as they are.*dir\/f0\.txt/);
    await work.checkpoint('b');
    expect(theirs()).toEqual(THEIRS);
  });

  test('is refused with the list when the rewind is asked for again; forced, it is kept and the rewind done', async () => {
    const { one, two } = await killedAndChanged();
    await expect(work.rewind(one, { expected: two })).rejects.toMatchObject({
      ...{ code: 'workspace_changed', effect: 'possible' },
      facts: { got: 'a, a/inner, dir/f0.txt', begun: true },
    });
    await work.rewind(one, { expected: two, force: true, dryRun: true });
    expect(theirs()).toEqual(THEIRS);
    await work.rewind(one, { expected: two, force: true });
    expect([readFileSync(at('dir/f0.txt'), 'utf8'), readFileSync(at('a'), 'utf8')]).toEqual([
      '0\n',
      'a file',
    ]);
    const kept = await work.workspaces.keeps('a');
    const contents = kept.map((hash) => work.git('show', `${hash}:dir/f0.txt`));
    expect(contents).toContain('of a person');
  });

  test('is all of it: a rewind fills a workspace that was removed', async () => {
    const { one, two, first } = await twoStates();
    await other('rewind', { ...REWIND, to: one, expected: two }, 'rewind-half').ended;
    rmSync(work.cwd, { recursive: true });
    await work.rewind(one, { expected: two });
    expect(everythingIn(work.cwd)).toEqual(first);
  });
});

test('a checkout that is killed is finished by the next one', async () => {
  const { two, second } = await twoStates();
  const folder = join(work.base, 'copy');
  await other('checkout', { hash: two, folder, agent: 'b' }, 'rewind-half').ended;
  await work.workspaces.checkout({ hash: two, folder, agent: 'b', of: ofAgent(work.cwd) });
  expect(everythingIn(folder)).toEqual(second);
});

test('a checkout that was killed and whose folder was removed leaves nothing in the way of another one', async () => {
  const { one, two, first } = await twoStates();
  const folder = join(work.base, 'copy');
  await other('checkout', { hash: two, folder, agent: 'b' }, 'rewind-half').ended;
  rmSync(folder, { recursive: true });
  await work.workspaces.checkout({ hash: one, folder, agent: 'b', of: ofAgent(work.cwd) });
  expect(everythingIn(folder)).toEqual(first);
});

test.each<[string, () => unknown]>([
  ['collected', () => work.workspaces.collect({ isLiving: () => false })],
  ['lost with the store', () => rmSync(join(work.folder, 'store.git'), { recursive: true })],
])(
  'a killed rewind whose checkpoints were %s is given up: the files are recorded as they are',
  async (_, lose) => {
    const { one, two, second } = await twoStates();
    await other('rewind', { ...REWIND, to: one, expected: two }, 'rewind-journalled').ended;
    await lose();
    const { hash } = await work.checkpoint('b');
    expect(everythingIn(work.cwd)).toEqual(second);
    expect(work.git('show', `${hash}:b`)).toBe('a file');
    expect(work.logged.join()).toMatch(/given up.*checkpoint is not in the store/);
    work.write('b', 'changed');
    const after = await work.checkpoint('b');
    await work.rewind(hash, { agent: 'b', expected: after.hash });
    expect(everythingIn(work.cwd)).toEqual(second);
  },
);

test('processes that take checkpoints at once and are killed leave a store that is whole', async () => {
  for (let n = 0; n < 30; n++) work.write(`f${n}`, `${n}`);
  await work.checkpoint();
  for (let round = 0; round < count(4, 40); round++) {
    work.write('changing', `${round}`);
    const others = [other('checkpoint', { agent: 'b' }), other('checkpoint', { agent: 'c' })];
    await Promise.all(others.map((one) => one.nextLine()));
    await delay((round * 13) % 60);
    others[0]?.child.kill('SIGKILL');
    await Promise.all(others.map((one) => one.ended));
    const { hash } = await work.checkpoint();
    expect(work.git('show', `${hash}:changing`)).toBe(`${round}`);
  }
  expect(work.git('fsck', '--strict', '--no-dangling')).toBe('');
});

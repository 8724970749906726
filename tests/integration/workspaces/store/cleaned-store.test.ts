// A store that is cleaned while its worker is killed, while agents begin again, or after it has lost something.
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runDist } from '../../../helpers/engines/dist-process';
import { until } from '../../../helpers/until';
import { TestWorkspace } from '../workspace';
import { Git, GitFailure } from '../../../../workspaces/git/git-run';

let work: TestWorkspace;
beforeEach(() => {
  work = new TestWorkspace();
});
afterEach(() => work.end());

const packs = (): string => join(work.folder, 'store.git/objects/pack');
const isThere = (hash: string): Promise<boolean> =>
  work.workspaces.changes({ from: null, to: hash }).then(
    () => true,
    () => false,
  );

/** Another workspace of the same store. */
function otherFolder(): string {
  const cwd = join(work.base, 'other');
  mkdirSync(cwd);
  return cwd;
}

/** Whether a pack is half written. */
const isPacking = (): boolean => readdirSync(packs()).some((name) => /^\.?tmp/.test(name));

/** Processes that write packs of this store. */
const packing = (): number[] =>
  readdirSync('/proc').flatMap((pid) => {
    try {
      const read = (file: string): string => readFileSync(`/proc/${pid}/${file}`, 'utf8');
      return read('cmdline').includes('\0pack-objects\0') && read('environ').includes(work.folder)
        ? [Number(pid)]
        : [];
    } catch {
      return [];
    }
  });

test('a checkpoint taken after the worker was killed in the middle of cleaning is there', async () => {
  work.write('f', 'of people');
  await work.checkpoint('a');
  const cwd = otherFolder();
  for (let n = 0; n < 8; n++) writeFileSync(join(cwd, `${n}`), randomBytes(10_000_000));
  await work.checkpoint('b', cwd);
  const body = `const { Workspaces } = load('workspaces/workspaces');
    const { DEFAULT_CHECKPOINTS } = load('contracts/workspaces/settings');
    const workspaces = new Workspaces({ folder: args[0], settings: DEFAULT_CHECKPOINTS, reachOf: () => load('contracts/workspaces/file-reach').WITHOUT_LIMITS, log() {} });
    await workspaces.collect({ isLiving: (agent) => agent === 'b' });
`;
  const worker = runDist(body, work.folder);
  let git: number | undefined;
  try {
    // By then it has decided what stays.
    while (!isPacking() && worker.child.exitCode === null) await new Promise(setImmediate);
    [git] = packing();
    if (git === undefined) throw new Error(`the store was cleaned too fast: ${worker.stderr()}`);
    process.kill(git, 'SIGSTOP');
    worker.child.kill('SIGKILL');
    await worker.ended;
    const { hash } = await work.checkpoint('c');
    process.kill(git, 'SIGCONT');
    await until(() => packing().length === 0);
    await until(() => !isPacking());
    expect(await isThere(hash)).toBe(true);
    await work.workspaces.collect({ isLiving: (agent) => agent === 'c' });
    expect(await isThere(hash)).toBe(true);
    expect(work.workspaces.bytes()).toBeLessThan(1_000_000);
    expect(work.git('fsck', '--strict', '--no-dangling')).toBe('');
  } finally {
    if (git !== undefined && packing().includes(git)) process.kill(git, 'SIGKILL');
  }
}, 120_000);

test.each([
  ['the first of its checkpoints', 0],
  ['one in the middle', 1],
  ['the last one', 2],
])(
  'a ref that leads to what is gone does not keep the store from being cleaned: %s',
  async (_, lost) => {
    const cwd = otherFolder();
    writeFileSync(join(cwd, 'f'), 'whole');
    const whole = await work.checkpoint('b', cwd);
    work.write('f', randomBytes(30_000));
    await work.checkpoint('gone', work.cwd);
    const hashes: string[] = [];
    const added: string[][] = [];
    for (let n = 0; n < 3; n++) {
      const before = readdirSync(packs());
      work.write('f', randomBytes(30_000));
      hashes.push((await work.checkpoint('a')).hash);
      added.push(readdirSync(packs()).filter((name) => !before.includes(name)));
    }
    for (const name of added[lost] ?? []) rmSync(join(packs(), name));
    expect((await work.workspaces.agents()).sort()).toEqual(expect.arrayContaining(['b', 'gone']));
    const { removed, bytes } = await work.workspaces.collect({ isLiving: (agent) => agent !== 'gone' });
    expect(removed).toBe(1);
    expect(bytes).toBeGreaterThan(25_000);
    expect(work.logged.join()).toMatch(/the store has lost files.*refs\/agents\/a\//);
    expect(await isThere(whole.hash)).toBe(true);
    // Those from the end on that can still be found.
    for (const hash of hashes.slice(lost + 1)) expect(await isThere(hash)).toBe(true);
    const next = await work.checkpoint('a');
    expect(await isThere(next.hash)).toBe(true);
    await work.workspaces.collect({ isLiving: () => true });
    expect(await isThere(next.hash)).toBe(true);
    expect(work.git('fsck', '--strict', '--no-dangling')).toBe('');
  },
  60_000,
);

test('a git that fails while nothing is lost costs no checkpoint', async () => {
  const one = await work.checkpoint('a');
  const git = new Git(join(work.folder, 'store.git'));
  const run = git.run.bind(git);
  const killed = jest.spyOn(Git.prototype, 'run').mockImplementation((args, options) => {
    const [command = ''] = args;
    return ['pack-objects', 'rev-list'].includes(command)
      ? Promise.reject(new GitFailure(command, 'SIGKILL', ''))
      : run(args, options);
  });
  try {
    const cleaning = work.workspaces.collect({ isLiving: () => true });
    await expect(cleaning).rejects.toThrow('rev-list ended with SIGKILL');
  } finally {
    killed.mockRestore();
  }
  await work.workspaces.collect({ isLiving: () => true });
  expect(await isThere(one.hash)).toBe(true);
});

test.each([
  ['with other files', 'of the new one'],
  ['with the same files', 'of the old one'],
])('an agent that begins again %s while the store is cleaned keeps its new checkpoints', async (_, text) => {
  work.write('f', 'of the old one');
  await work.checkpoint('a');
  const cwd = otherFolder();
  writeFileSync(join(cwd, 'f'), 'of another one');
  await work.checkpoint('b', cwd);
  const hashes: string[] = [];
  const isLiving = async (agent: string): Promise<boolean> => {
    if (agent === 'a') return hashes.length > 0;
    for (const next of [text, 'of its second step']) {
      work.write('f', next);
      hashes.push((await work.checkpoint('a')).hash);
    }
    return true;
  };
  expect(await work.workspaces.collect({ isLiving })).toMatchObject({ removed: 0 });
  for (const hash of hashes) expect(await isThere(hash)).toBe(true);
});

test('what a rewind of an ended agent replaced stays when the rewind comes while the store is cleaned', async () => {
  work.write('f', 'one');
  const one = await work.checkpoint('a');
  const cwd = otherFolder();
  writeFileSync(join(cwd, 'f'), 'of another one');
  await work.checkpoint('b', cwd);
  let before = '';
  const isLiving = async (agent: string): Promise<boolean> => {
    if (agent === 'a') return false;
    work.write('f', 'of people');
    ({ before } = await work.rewind(one.hash, { force: true }));
    return true;
  };
  await work.workspaces.collect({ isLiving });
  expect(await isThere(before)).toBe(true);
});

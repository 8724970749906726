// Sessions that were closed long ago are removed, whole, and no others.
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { SessionRef } from '../../../../contracts/ids';
import { Retention } from '../../../../exec/host/retention';
import { SessionHost } from '../../../../exec/host/session-host';
import { sessionPaths } from '../../../../exec/session-paths';
import { testHost, type TestHost } from '../../../helpers/terminals/session-host';
import { until } from '../../../helpers/until';
import { endWithoutTrace, holderOf, otherSession } from '../session-processes';

const DAY_MS = 86_400_000;

let t: TestHost;
beforeAll(() => (t = testHost()));
afterAll(() => endWithoutTrace(t));

const folderOf = (ref: SessionRef): string => sessionPaths(t.dataDir, ref).directory;
const age = (ref: SessionRef, days: number): void => {
  const at = new Date(Date.now() - days * DAY_MS);
  utimesSync(folderOf(ref), at, at);
};
const retention = (keepDays: number): Retention =>
  new Retention({
    dataDir: t.dataDir,
    host: 'local',
    keepMs: keepDays * DAY_MS,
    isClosed: (ref) => t.host.isClosed(ref),
  });
const numbers = (found: { ref: SessionRef }[]): number[] => found.map(({ ref }) => ref.session);

test('what was closed long enough ago goes, with what an interrupted removal left; open, killed and younger sessions stay', async () => {
  const [open, old, older, young, killed, elsewhere] = [1, 2, 3, 4, 5, 6].map((n) => otherSession(t, n)) as [
    SessionRef,
    SessionRef,
    SessionRef,
    SessionRef,
    SessionRef,
    SessionRef,
  ];
  for (const ref of [open, old, older, young, killed]) await t.run('echo said', { ref });
  for (const ref of [old, older, young]) await t.host.close(ref, 'done');
  process.kill(holderOf(t, killed), 'SIGKILL');
  await until(() => !t.host.isOpen(killed));
  mkdirSync(folderOf({ ...elsewhere, host: 'laptop' }), { recursive: true });
  for (const ref of [open, old, killed, { ...elsewhere, host: 'laptop' }]) age(ref, 31);
  age(older, 60);
  age(young, 29);
  mkdirSync(join(t.dataDir, 'removed', 'half'), { recursive: true });
  writeFileSync(join(t.dataDir, 'removed', 'half', 'log'), 'x');
  const due = await retention(30).due();
  expect(numbers(due)).toEqual([3, 2]);
  expect(due[0]?.bytes).toBeGreaterThan(0);
  expect(numbers(await retention(30).look())).toEqual([3, 2]);
  expect([old, older].map((ref) => existsSync(folderOf(ref)))).toEqual([false, false]);
  expect(readdirSync(t.dataDir)).not.toContain('removed');
  expect(numbers(await retention(30).look())).toEqual([]);
  expect((await t.run('echo lives', { ref: open })).output).toContain('lives');
  expect((await t.host.status(killed)).command?.id).toBeDefined();
});

test('a session that is opened again between the look and the removal stays, with all its output', async () => {
  const ref = otherSession(t, 10);
  await t.run('echo one', { ref });
  await t.host.close(ref, 'done');
  age(ref, 31);
  const [due] = await retention(30).due();
  expect(due?.ref).toEqual(ref);
  await t.run('echo two', { ref });
  expect(due && (await retention(30).remove(due))).toBe(false);
  expect(statSync(folderOf(ref)).isDirectory()).toBe(true);
  expect((await t.run('echo three', { ref })).output).toContain('three');
});

test('a session that another process opens stays from the beginning, and when it has closed it again', async () => {
  const ref = otherSession(t, 12);
  await t.run('echo one', { ref });
  await t.host.close(ref, 'done');
  age(ref, 31);
  // As `holdfast gc`: it knows nothing of what the worker is opening.
  const { cwd, env, treeKill } = t.host.options;
  const other = new SessionHost({ dataDir: t.dataDir, cwd, env, treeKill });
  const isClosed = (one: SessionRef): boolean => other.isClosed(one);
  const ofOther = new Retention({ dataDir: t.dataDir, host: 'local', keepMs: 30 * DAY_MS, isClosed });
  const [due] = await ofOther.due();
  if (!due) throw new Error('nothing is due');
  expect(due.ref).toEqual(ref);
  const second = t.run('echo two', { ref });
  await until(() => statSync(folderOf(ref)).mtimeMs !== due.closedAt);
  expect(await ofOther.remove(due)).toBe(false);
  expect((await second).output).toContain('two');
  await t.host.close(ref, 'done');
  expect(await ofOther.remove(due)).toBe(false);
  expect(readFileSync(t.host.logPath(ref), 'utf8')).toContain('two');
  other.detach();
});

test('a machine whose clock is months ahead of the server’s removes no session that was closed a moment ago', async () => {
  const ref = otherSession(t, 11);
  await t.run('echo one', { ref });
  await t.host.close(ref, 'done');
  const now = Date.now();
  const ahead = jest.spyOn(Date, 'now').mockReturnValue(now + 90 * DAY_MS);
  try {
    expect(numbers(await retention(30).due())).toContain(11);
    expect(numbers(await retention(30).look(() => Promise.resolve(now)))).not.toContain(11);
  } finally {
    ahead.mockRestore();
  }
  expect(existsSync(folderOf(ref))).toBe(true);
});

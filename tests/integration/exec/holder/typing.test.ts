// Typing around the start and the end of a command, in a holder's session in this process.
import { mkdirSync, mkdtempSync, rmSync, rmdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contentHash } from '../../../../exec/command-records';
import { Attachments } from '../../../../exec/holder/attachments';
import { Session } from '../../../../exec/holder/session';
import { sessionEnvironment } from '../../../../exec/host/session-environment';
import { segmentPath } from '../../../../exec/output/log-segments';
import { detectTreeKill } from '../../../../exec/processes/process-tree';
import type { Snapshot } from '../../../../exec/protocol';
import { sessionPaths, type SessionPaths } from '../../../../exec/session-paths';
import { readTree } from '../../../../exec/tree-record';
import { makeFolder } from '../../../../system/make-folder';
import { until } from '../../../helpers/until';
import { linksOf, processesMarked } from '../session-processes';

/** An eighth of the log's limit. */
const SEGMENT_BYTES = 10_000;
const { signal } = new AbortController();
const NOTHING_RUNS = { code: 'no_running_process' };

let dataDir: string;
let paths: SessionPaths;
let session: Session;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'holdfast-typing-'));
  paths = sessionPaths(dataDir, { agent: 'test', host: 'local', session: 0 });
  makeFolder(paths.directory);
  const env = sessionEnvironment(process.env);
  const treeKill = detectTreeKill();
  const config = { session: 0, socketPath: join(dataDir, 'socket'), token: 'x', cwd: dataDir, env, treeKill };
  session = new Session({ ...config, logBytes: 8 * SEGMENT_BYTES }, paths, undefined);
});
afterEach(async () => {
  await session.reset({ id: 'end', reason: null, by: 'reset' });
  rmSync(dataDir, { recursive: true, force: true });
});

const run = (code: string, id: string): Promise<Snapshot> =>
  session.run({ id, runtime: 'terminal', code, contentHash: contentHash('terminal', code) });
const input = (id: string): Promise<unknown> => session.input({ id, text: id, keys: [] });
const isOver = async (): Promise<boolean> =>
  (await session.observe({ kind: 'exit', from: 0, timeoutMs: 30_000 }, signal)).reason === 'exit';

/** Without a turn of the event loop: bash has not said that it is ready. */
async function untilAccepted(): Promise<void> {
  while (!session.isRunning) await Promise.resolve();
}

test('what is typed as soon as a command runs reaches it, though unread input of the command before is discarded', async () => {
  await run('read -r first; sleep 0.5', 'one');
  await input('first');
  await input('unread');
  expect(await isOver()).toBe(true);
  await run('read -r line; [ "$line" = second ]', 'two');
  await input('second');
  expect(await isOver()).toBe(true);
  expect(session.snapshot().command).toMatchObject({ id: 'two', exitCode: 0 });
});

describe('a command that cannot be started', () => {
  /** No file can be written there. */
  const inTheWay = (): string => join(paths.directory, 'epoch-1', '1');

  test('refuses what was typed meanwhile, and the next command gets none of it', async () => {
    const starting = run('echo never', 'one');
    await untilAccepted();
    mkdirSync(inTheWay());
    const typed = input('early');
    session.typeRaw(Buffer.from('raw'));
    await expect(starting).rejects.toThrow('EISDIR');
    await expect(typed).rejects.toMatchObject(NOTHING_RUNS);
    await run('read -r line; [ "$line" = late ]', 'two');
    await input('late');
    expect(await isOver()).toBe(true);
    expect(session.snapshot().command).toMatchObject({ id: 'two', exitCode: 0 });
  });

  test('is not running for people who watch', async () => {
    const attachments = new Attachments(session, 0);
    const starting = run('echo never', 'one');
    await untilAccepted();
    mkdirSync(inTheWay());
    const { end, ...seen } = attachments.attach({ typist: null, size: null }, signal);
    expect(seen.running).toBe('one');
    const news = attachments.watch({ from: end, seen }, signal);
    await expect(starting).rejects.toThrow('EISDIR');
    expect(await news).toMatchObject({ running: null });
  });
});

describe('while the disk is full', () => {
  /** Not even root can open it as a file. */
  const stall = (): void => mkdirSync(segmentPath(paths.log, SEGMENT_BYTES));
  const unstall = (): void => rmdirSync(segmentPath(paths.log, SEGMENT_BYTES));
  const degraded = (): string | null => session.snapshot().degraded ?? null;
  const go = (): void => writeFileSync(join(dataDir, 'go'), '');
  /** Leaves room for ten bytes. */
  const fill = `printf '%0${SEGMENT_BYTES - 10}d' 0; cd /`;
  const whenGo = (): string => `until [ -e '${dataDir}/go' ]; do sleep 0.02; done`;

  beforeEach(async () => {
    await run(fill, 'fill');
    expect(await isOver()).toBe(true);
    stall();
  });

  async function killLeader(): Promise<void> {
    process.kill(readTree(paths)?.leader.pid ?? NaN, 'SIGKILL');
    await until(() => session.folder() === dataDir);
  }

  /** Whether bash has reported the end of a command and waits for the next. */
  const driverWaits = (): boolean =>
    processesMarked(dataDir)
      .filter((line) => line.includes(' bash ') && !line.includes('unshare'))
      .some((line) => linksOf(line.split(' ')[0]).some((link) => link.endsWith('/down')));

  /** The command has ended with 0; its output and its end have arrived at once, and wait for the disk. */
  async function holdEnd(): Promise<void> {
    await run(`${whenGo()}; printf '%0100d' 0`, 'held');
    go();
    // Without a turn of the event loop.
    for (const began = performance.now(); !driverWaits() && performance.now() - began < 30_000;);
    await until(() => degraded() !== null);
    expect(session.snapshot().command).toMatchObject({ id: 'held', endedAt: null });
  }

  test('a command that has ended keeps its exit code when the shell is killed before its end is recorded', async () => {
    await holdEnd();
    await killLeader();
    expect(session.snapshot().command).toMatchObject({ id: 'held', endedAt: null });
    unstall();
    expect(await isOver()).toBe(true);
    expect(session.snapshot()).toMatchObject({
      command: { id: 'held', exitCode: 0, signal: null, killedBy: null },
      degraded: null,
    });
  });

  test('a command that has ended takes no typing, though its end is not recorded yet', async () => {
    await holdEnd();
    await expect(input('a')).rejects.toMatchObject(NOTHING_RUNS);
    expect(session.typeRaw(Buffer.from('b'))).toBe(false);
    await killLeader();
    await expect(input('c')).rejects.toMatchObject(NOTHING_RUNS);
    expect(session.typeRaw(Buffer.from('d'))).toBe(false);
    unstall();
    expect(await isOver()).toBe(true);
  });

  test('the end of a shell in which nothing runs is not taken for that of the next command', async () => {
    await run(`{ ${whenGo()}; printf '%0100d' 0; sleep 600; } &`, 'background');
    expect(await isOver()).toBe(true);
    go();
    await until(() => degraded() !== null);
    await killLeader();
    unstall();
    await until(() => degraded() === null);
    await run('sleep 600', 'next');
    await session.reset({ id: 'r', reason: 'enough', by: 'reset' });
    expect(session.snapshot().command).toMatchObject({
      ...{ id: 'next', exitCode: null },
      killedBy: { by: 'reset', reason: 'enough' },
    });
  });
});

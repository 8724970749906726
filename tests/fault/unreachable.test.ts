// Sessions whose holder lives but does not answer, end to end: command line, server, worker.
import { existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_AGENT, LOCAL_HOST } from '../../contracts/ids';
import type { CommandView } from '../../contracts/sessions/session';
import type { HolderRecord } from '../../exec/client/holder-client';
import { readJson } from '../../system/json-file';
import { processStat } from '../../system/processes/proc';
import { isAlive } from '../../system/processes/process-identity';
import { sessionPaths, type SessionPaths } from '../../exec/session-paths';
import { readTree } from '../../exec/tree-record';
import type { CliResult } from '../helpers/engines/command-lines';
import { EngineOfItsOwn } from '../helpers/engines/engine-of-its-own';
import { until } from '../helpers/until';

/** It takes four seconds, and a busy machine more. */
const TOLD_MS = 10_000;
const engine = new EngineOfItsOwn({ ownServer: true });
let cwd: string;

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'holdfast-unreachable-'));
  await engine.start();
}, 60_000);
/** Holders that a test has stopped. */
const stopped: HolderRecord['identity'][] = [];
afterEach(() => {
  for (const holder of stopped.splice(0)) if (isAlive(holder)) process.kill(holder.pid, 'SIGCONT');
});
afterAll(async () => {
  const left = await engine.end();
  rmSync(cwd, { recursive: true, force: true });
  expect(left).toEqual([]);
}, 60_000);

let sessions = 0;
const pathsOf = (session: number): SessionPaths =>
  sessionPaths(engine.dataDir, { agent: DEFAULT_AGENT, host: LOCAL_HOST, session });

function holderOf(session: number): HolderRecord['identity'] {
  const record = readJson<HolderRecord>(pathsOf(session).holder);
  if (!record) throw new Error('no holder');
  return record.identity;
}

async function stop(session: number): Promise<number> {
  const holder = holderOf(session);
  const { pid } = holder;
  stopped.push(holder);
  process.kill(pid, 'SIGSTOP');
  await until(() => processStat(pid)?.state === 'T');
  return pid;
}

/** Runs one CLI command on a session, and measures its time. */
async function hf(session: number, command: string, ...args: string[]): Promise<CliResult & { ms: number }> {
  const since = Date.now();
  const result = await engine.cliInTurn([command, '--session', String(session), '--json', ...args]);
  return { ...result, ms: Date.now() - since };
}

const errorOf = ({ stderr }: CliResult): { code: string; facts: Record<string, unknown> } =>
  (
    JSON.parse(stderr.trim().split('\n').at(-1) ?? '{}') as {
      error: { code: string; facts: Record<string, unknown> };
    }
  ).error;

const viewOf = ({ stdout }: CliResult): CommandView => JSON.parse(stdout) as CommandView;

test('callers of a session whose holder is stopped are told within seconds, its command keeps running, and the same id finds it', async () => {
  const n = sessions++;
  const code = 'echo ran >> runs; until [ -e go ]; do sleep 0.02; done; seq 3; (exit 4)';
  const args = ['--id', 'the-command', '--cwd', cwd, code];
  const running = hf(n, 'exec', ...args);
  await until(ranOnce);
  // The time to start three command lines at once on a busy machine.
  const starts = await Promise.all([0, 1, 2].map(() => hf(n, 'exec', '--help')));
  const startMs = Math.max(...starts.map(({ ms }) => ms));
  const pid = await stop(n);
  const stoppedAt = Date.now();
  const told = await Promise.all([
    running.then((result) => ({ ...result, ms: Date.now() - stoppedAt })),
    hf(n, 'output'),
    hf(n, 'input', 'x'),
  ]);
  for (const result of told) {
    expect([result.code, errorOf(result)]).toMatchObject([
      75,
      { code: 'session_unreachable', facts: { session: n, pid, state: 'stopped by a signal (T)' } },
    ]);
    expect(result.ms - startMs).toBeLessThan(TOLD_MS);
  }
  // Of another command, too: not that the session is busy.
  expect(errorOf(await hf(n, 'exec', 'echo other')).code).toBe('session_unreachable');
  expect(errorOf(await hf(n, 'exec', ...args)).code).toBe('session_unreachable');
  process.kill(pid, 'SIGCONT');
  writeFileSync(join(cwd, 'go'), '');
  let found = await hf(n, 'exec', ...args);
  // Until the worker has seen that the holder continues.
  for (; found.code === 75; found = await hf(n, 'exec', ...args));
  expect(viewOf(found)).toMatchObject({ state: 'exited', exitCode: 4, output: '1\n2\n3\n', epoch: 1 });
  expect(found.code).toBe(4);
  expect(readFileSync(join(cwd, 'runs'), 'utf8')).toBe('ran\n');
}, 60_000);

const ranOnce = (): boolean => {
  try {
    return readFileSync(join(cwd, 'runs'), 'utf8') === 'ran\n';
  } catch {
    return false;
  }
};

test("the command line's reset ends what a stopped holder holds, its caller is told of that end, and the next command runs", async () => {
  const n = sessions++;
  const running = hf(n, 'exec', '--cwd', cwd, 'echo $BASHPID > pid-of-reset; sleep 4000');
  await until(() => pidIn('pid-of-reset') !== undefined);
  const shell = readTree(pathsOf(n))?.leader;
  expect(shell && isAlive(shell)).toBe(true);
  const pid = await stop(n);
  const { code, ms } = await hf(n, 'reset', '--reason', 'enough');
  expect(code).toBe(0);
  expect(ms).toBeLessThan(10_000);
  const result = await running;
  expect(errorOf(result).code).toMatch(/^session_(lost|unreachable)$/);
  expect(processStat(pid)).toBeUndefined();
  expect(shell && isAlive(shell)).toBe(false);
  expect(viewOf(await hf(n, 'exec', 'echo next'))).toMatchObject({
    output: 'next\n',
    epoch: 2,
    freshShell: true,
  });
}, 60_000);

function pidIn(name: string): number | undefined {
  try {
    return Number(readFileSync(join(cwd, name), 'utf8')) || undefined;
  } catch {
    return undefined;
  }
}

test("the command line's close leaves no stopped holder behind", async () => {
  const n = sessions++;
  expect((await hf(n, 'exec', '--cwd', cwd, 'echo open')).code).toBe(0);
  const holder = holderOf(n);
  await stop(n);
  expect((await hf(n, 'close')).code).toBe(0);
  expect(isAlive(holder)).toBe(false);
}, 60_000);

test('truncating the log of a running command is reported in its output, and the command ends normally', async () => {
  const n = sessions++;
  const code = 'echo begun; until [ -e truncated ]; do sleep 0.02; done; echo ended; (exit 5)';
  const running = hf(n, 'exec', '--cwd', cwd, code);
  const { log } = pathsOf(n);
  await until(() => existsSync(log) && readFileSync(log, 'utf8') === 'begun\r\n');
  truncateSync(log);
  writeFileSync(join(cwd, 'truncated'), '');
  const result = await running;
  expect(viewOf(result)).toMatchObject({ state: 'exited', exitCode: 5, from: 0, to: 14, omittedBytes: 7 });
  expect(viewOf(result).output).toBe('[7 bytes are lost: the log was truncated or deleted]\nended\n');
  expect(result.code).toBe(5);
}, 60_000);

test('doctor names sessions that do not answer, with the pid and why', async () => {
  const n = sessions++;
  expect((await hf(n, 'exec', '--cwd', cwd, 'echo open')).code).toBe(0);
  const pid = await stop(n);
  const { code, stdout } = await engine.cliInTurn(['doctor', '--json']);
  process.kill(pid, 'SIGCONT');
  const checks = JSON.parse(stdout) as { name: string; status: string; found: string; next?: string }[];
  expect(checks.find(({ name }) => name === 'sessions')).toMatchObject({
    status: 'fail',
    found: expect.stringContaining(
      `session ${n} of ${DEFAULT_AGENT} (pid ${pid}): stopped by a signal (T)`,
    ) as string,
    next: expect.stringContaining(`kill -CONT ${pid}`) as string,
  });
  expect(code).toBe(69);
}, 60_000);

test('down --sessions ends every session within twenty seconds, names those it had to kill, and ends worker and server', async () => {
  const n = sessions++;
  expect((await hf(n, 'exec', '--cwd', cwd, 'echo open')).code).toBe(0);
  const pid = await stop(n);
  const since = Date.now();
  const { code, stdout } = await engine.cli(['down', '--sessions', '--json']);
  expect(Date.now() - since).toBeLessThan(25_000);
  const facts = JSON.parse(stdout) as { sessions: { session: number }[] };
  expect([code, facts]).toMatchObject([0, { server: true, worker: true, sessionsLeft: 0, problems: [] }]);
  expect(facts.sessions.find(({ session }) => session === n)).toMatchObject({
    ended: 'killed',
    holderPid: pid,
    why: 'stopped by a signal (T)',
  });
  expect(processStat(pid)).toBeUndefined();
}, 60_000);

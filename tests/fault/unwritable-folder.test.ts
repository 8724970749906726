// A data folder that is no longer writable, end to end: command line, server, worker, sessions.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionHandle } from '../../client/session-handle';
import type { HolderRecord } from '../../exec/client/holder-client';
import { processStat } from '../../system/processes/proc';
import { isAlive } from '../../system/processes/process-identity';
import { findSilentWorker, runningWorker, workerPaths } from '../../workers/process/worker-record';
import { EngineOfItsOwn, processesNaming } from '../helpers/engines/engine-of-its-own';
import { immutableFiles, isPossible, readOnlyMount, type Way } from '../helpers/hosts/unwritable';
import { until } from '../helpers/until';
import { holderRecord } from '../helpers/terminals/holder-record';

const AT_ONCE = { firstOutputMs: 0, betweenOutputMs: 0, maxMs: 0, promptMs: 0 };
const engine = new EngineOfItsOwn({ ownServer: true });
/** Must be made writable again, however the test ends. */
let allow: () => void = () => undefined;
const allowed = (): void => {
  allow();
  allow = (): void => undefined;
};
function forbid(way: Way | undefined, path = engine.dataDir): void {
  if (!way) throw new Error('it can be had by no way');
  allow = (): void => way.allow(path);
  way.forbid(path);
}

let cwd: string;
beforeAll(() => void (cwd = mkdtempSync(join(tmpdir(), 'holdfast-unwritable-'))));
beforeEach(() => engine.start(), 60_000);
afterEach(allowed);
afterAll(async () => {
  expect(await engine.end()).toEqual([]);
  rmSync(cwd, { recursive: true, force: true });
}, 60_000);

let sessions = 0;
const newSession = (): SessionHandle => engine.client.session({ agent: 'cli', session: sessions++ });
const holderOf = ({ ref }: SessionHandle): HolderRecord['identity'] => holderRecord(engine, ref).identity;
async function stop(session: SessionHandle): Promise<number> {
  const { pid } = holderOf(session);
  process.kill(pid, 'SIGSTOP');
  await until(() => processStat(pid)?.state === 'T');
  return pid;
}

interface DownFacts {
  server: boolean;
  worker: boolean;
  sessionsLeft: number;
  sessions: { session: number; ended: string; holderPid?: number }[];
  problems: { code: string; message: string }[];
}
async function down(...args: string[]): Promise<{ code: number | null; facts: DownFacts }> {
  const { code, stdout } = await engine.cli(['down', '--json', ...args]);
  return { code, facts: JSON.parse(stdout) as DownFacts };
}

/** The code that a command is refused with. */
const refusal = (session: SessionHandle): Promise<string> =>
  session.exec({ code: 'true' }).then(
    () => 'none',
    (err: { code: string }) => err.code,
  );

const chattr = isPossible(immutableFiles);
(chattr ? test : test.skip)(
  `a worker whose log cannot be written goes on, and writes again when it can${chattr ? '' : ` (not checked: ${immutableFiles.needs})`}`,
  async () => {
    const { log } = workerPaths(engine.dataDir);
    const TOLD = 'a command cannot be observed for now';
    const session = newSession();
    await session.exec({ code: 'sleep 4000', yield: AT_ONCE });
    const worker = runningWorker(engine.dataDir);
    forbid(immutableFiles, log);
    const pid = await stop(session);
    // Its line arrived earlier.
    await until(async () => (await refusal(session)) === 'session_unreachable');
    expect(worker && isAlive(worker.identity)).toBe(true);
    expect(readFileSync(log, 'utf8')).not.toContain(TOLD);
    allowed();
    process.kill(pid, 'SIGCONT');
    await until(async () => (await refusal(session)) === 'busy');
    await stop(session);
    await until(() => readFileSync(log, 'utf8').includes(TOLD));
    process.kill(pid, 'SIGCONT');
    await session.close('test ended');
    await session.closed();
  },
  60_000,
);

const ways = [readOnlyMount, immutableFiles].filter(isPossible);
const neither = `neither ${readOnlyMount.needs}; nor ${immutableFiles.needs}`;
/** Each by one way, where both are there by different ones. */
const whereForbidden = ways.length > 0 ? test : test.skip;
const why = ways.length > 0 ? '' : ` (not checked: ${neither})`;

whereForbidden(
  `a command on a data folder that cannot be written is told so without a wait, and the same id runs it once when it can be${why}`,
  async () => {
    const { session } = newSession().ref;
    const exec = ['exec', '--session', String(session), '--json', '--id', 'the-command', '--cwd', cwd];
    const begin = Date.now();
    await engine.cli(['exec', '--help']);
    const startMs = Date.now() - begin;
    forbid(ways[0]);
    const since = Date.now();
    const { code, stderr } = await engine.cli([...exec, 'echo ran >> runs']);
    // Less than anything here waits for what may pass.
    expect(Date.now() - since - startMs).toBeLessThan(30_000);
    expect([code, stderr]).toEqual([74, expect.stringMatching(/"code":"storage_failed".*"retryable":true/)]);
    allowed();
    // It could not write that it lives either.
    await until(() => findSilentWorker(engine.dataDir) === undefined);
    const again = await engine.cli([...exec, 'echo ran >> runs']);
    expect(again).toMatchObject({ stderr: '', code: 0 });
    expect(JSON.parse(again.stdout)).toMatchObject({ state: 'exited', exitCode: 0 });
    expect(readFileSync(join(cwd, 'runs'), 'utf8')).toBe('ran\n');
    await engine.cli(['close', '--session', String(session)]);
  },
  60_000,
);

whereForbidden(
  `down on a data folder that cannot be written ends worker and server, leaves the sessions, and says why it exits with an error${why}`,
  async () => {
    const session = newSession();
    await session.exec({ code: 'sleep 4000', yield: AT_ONCE });
    const holder = holderOf(session);
    const worker = runningWorker(engine.dataDir)?.identity;
    const server = engine.server().identity;
    forbid(ways[0]);
    const { code, facts } = await down();
    expect([code, facts]).toMatchObject([74, { server: true, worker: true, sessionsLeft: 1, sessions: [] }]);
    expect(facts.problems).toMatchObject([
      { code: 'storage_failed', message: expect.stringMatching(/stopping'/) as string },
    ]);
    expect([worker && isAlive(worker), isAlive(server), isAlive(holder)]).toEqual([false, false, true]);
    allowed();
    await engine.start();
    expect(await session.output()).toMatchObject({ state: 'running', epoch: 1 });
    await session.close('test ended');
    await session.closed();
  },
  60_000,
);

whereForbidden(
  `down --sessions on a data folder that cannot be written names each session, and leaves no process of any, of worker or of server${why}`,
  async () => {
    const [idle, busy, stopped] = [newSession(), newSession(), newSession()];
    await idle.exec({ code: 'true' });
    for (const session of [busy, stopped]) await session.exec({ code: 'sleep 4000', yield: AT_ONCE });
    const holderPid = await stop(stopped);
    forbid(ways.at(-1));
    const since = Date.now();
    const { code, facts } = await down('--sessions');
    expect(Date.now() - since).toBeLessThan(35_000);
    // The server may have been ended by the kernel: it maps a file of its database that may no longer be changed.
    expect([code, facts]).toMatchObject([74, { worker: true, sessionsLeft: 0 }]);
    expect(facts.problems).toHaveLength(1);
    expect(facts.sessions.sort((a, b) => a.session - b.session)).toMatchObject([
      { session: idle.ref.session, ended: 'closed' },
      { session: busy.ref.session, ended: 'closed' },
      { session: stopped.ref.session, ended: 'killed', holderPid, why: 'stopped by a signal (T)' },
    ]);
    expect(processesNaming(engine.dataDir)).toEqual([]);
  },
  60_000,
);

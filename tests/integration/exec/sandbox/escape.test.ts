// S2, S15, D3: nothing that a session started outlives its reset or its holder, whichever process runs the host. Where the
// host has no PID namespaces, processes that are found are ended, and those that cannot be ended are reported.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs, { chmodSync, copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandView } from '../../../../exec/host/command-view';
import { detectTreeKill, killTree, treeCommand } from '../../../../exec/processes/process-tree';
import { sessionPaths } from '../../../../exec/session-paths';
import { readTree } from '../../../../exec/tree-record';
import { childrenOf, descendantsOf } from '../../../../system/processes/proc';
import { testHost, type TestHost } from '../../../helpers/terminals/session-host';
import { ESCAPEES, newMark, TRACELESS } from './escapees';
import { hostOfUser, noHostOfUser, USER_SESSION, type HostOfUser } from './host-of-user';
import {
  endWithoutTrace,
  eventually,
  holderOf,
  otherSession,
  processesMarked,
  reset,
  survivors,
} from '../session-processes';

const own = detectTreeKill();
const whereNamespaces = own === 'process-search' ? describe.skip : describe;
const pidOf = (line: string | undefined): number => Number(line?.split(' ')[0]);

/** As many kinds as there are marks, all in one session. */
const everyKind = (marks: string[]): string =>
  `${marks.map((mark, n) => `( ${ESCAPEES.all[n]?.[1](mark)} ) &`).join('\n')}\nsleep 600`;

async function untilAllRun(marks: string[]): Promise<void> {
  const running = (): number => marks.filter((mark) => processesMarked(mark).length > 0).length;
  expect(await eventually(running, (count) => count === marks.length)).toBe(marks.length);
}

whereNamespaces(
  `with a PID namespace${own === 'process-search' ? ' (not checked: refused here)' : ''}`,
  () => {
    let t: TestHost;
    beforeAll(() => (t = testHost()));
    afterAll(() => endWithoutTrace(t));

    test('a daemon that left no trace of its session does not survive a reset for two seconds', async () => {
      const mark = newMark();
      await t.run(TRACELESS(mark), { yield: { firstOutputMs: 20 } });
      await untilAllRun([mark]);
      await reset(t);
      expect(await survivors(mark)).toEqual([]);
    });

    test('a process that somebody else has put into the namespace does not survive a reset', async () => {
      const mark = newMark();
      await t.run('sleep 600', { yield: { firstOutputMs: 20 } });
      const { leader } = readTree(sessionPaths(t.dataDir, t.ref)) ?? {};
      const [init] = childrenOf(leader?.pid ?? 0);
      const stranger = spawn('nsenter', ['--pid', `--target=${init}`, 'bash', '-c', `sleep 600; : ${mark}`]);
      const ended = once(stranger, 'exit');
      await untilAllRun([mark]);
      await reset(t);
      expect(await survivors(mark)).toEqual([]);
      await ended;
    });

    test('its end looks at no process outside of it, however many there are', async () => {
      const [program = '', ...args] = treeCommand(own);
      const { pid: leader = 0 } = spawn(program, [...args, 'sh', '-c', 'sleep 600 & sleep 600']);
      const tree = (): number[] => descendantsOf(leader);
      expect(await eventually(tree, (pids) => pids.length === 3)).toHaveLength(3);
      const listed = jest.spyOn(fs, 'readdirSync');
      expect(await killTree({ kind: own, leader, mark: 'none', ownShell: 'none' })).toEqual([]);
      const folders = listed.mock.calls.map(([path]) => String(path));
      listed.mockRestore();
      expect(folders).toContain(`/proc/${leader}/task`);
      expect(folders).not.toContain('/proc');
      expect(tree()).toEqual([]);
    });

    test('none of all kinds at once survives a reset, and another session keeps all of its own', async () => {
      const [mine, others] = [ESCAPEES.all.map(newMark), ESCAPEES.all.map(newMark)];
      const other = otherSession(t, 1);
      await t.run(everyKind(mine), { yield: { firstOutputMs: 20 } });
      await t.run(everyKind(others), { ref: other, yield: { firstOutputMs: 20 } });
      await untilAllRun([...mine, ...others]);
      await reset(t);
      expect(await survivors(...mine)).toEqual([]);
      await untilAllRun(others);
      await reset(t, other);
      expect(await survivors(...others)).toEqual([]);
    });

    test('of all kinds at once none survives the SIGKILL of the holder', async () => {
      const marks = ESCAPEES.all.map(newMark);
      await t.run(everyKind(marks), { yield: { firstOutputMs: 20 } });
      await untilAllRun(marks);
      process.kill(holderOf(t), 'SIGKILL');
      expect(await survivors(...marks)).toEqual([]);
      expect((await t.host.status(t.ref)).command).toMatchObject({
        lost: true,
        killedBy: { by: 'host_lost' },
      });
    });
  },
);

describe('by a search of the process table', () => {
  let t: TestHost;
  beforeAll(() => (t = testHost({ treeKill: 'process-search' })));
  afterAll(() => endWithoutTrace(t));

  test.each(ESCAPEES.found)('a process %s does not survive a reset for two seconds', async (_name, code) => {
    const mark = newMark();
    await t.run(code(mark), { yield: { firstOutputMs: 20, betweenOutputMs: 20 } });
    await untilAllRun([mark]);
    await reset(t);
    expect(await survivors(mark)).toEqual([]);
    expect(await t.host.status(t.ref)).toMatchObject({ survivors: [], treeKill: 'process-search' });
  });

  test('a process that keeps forking during the search does not survive', async () => {
    const mark = newMark();
    const script = `trap '' TERM; (sleep 0.02; exec setsid sh "$0" ${mark}) & sleep 0.1`;
    await t.run(`cat > fork.sh <<'END'\n${script}\nEND\nsh fork.sh ${mark}; sleep 600`, {
      yield: { firstOutputMs: 100 },
    });
    await untilAllRun([mark]);
    await reset(t);
    expect(await survivors(mark)).toEqual([]);
  });

  test('of two sessions only the one that was reset is touched', async () => {
    const [mine, others] = [ESCAPEES.found.map(newMark), ESCAPEES.found.map(newMark)];
    const other = otherSession(t, 1);
    await t.run(everyKind(mine), { yield: { firstOutputMs: 20 } });
    await t.run(everyKind(others), { ref: other, yield: { firstOutputMs: 20 } });
    await untilAllRun([...mine, ...others]);
    await reset(t);
    expect(await survivors(...mine)).toEqual([]);
    await untilAllRun(others);
    await reset(t, other);
    expect(await survivors(...others)).toEqual([]);
  });

  test('the state says that there is only a search, which misses a daemon without any trace', async () => {
    const mark = newMark();
    await t.run(TRACELESS(mark), { yield: { firstOutputMs: 20 } });
    // The mark is in the command line of the forking parents too: they must be gone.
    const isAlone = (found: string[]): boolean =>
      found.length === 1 && found[0]?.includes(' /bin/sh -c') === true;
    await eventually(() => processesMarked(mark), isAlone);
    await reset(t);
    const missed = processesMarked(mark);
    for (const line of missed) process.kill(pidOf(line), 'SIGKILL');
    // Two while it begins a child: until its exec, that has the same command line.
    expect(missed).not.toEqual([]);
    expect((await t.host.status(t.ref)).treeKill).toBe('process-search');
  });
});

const noUser = noHostOfUser();
(noUser ? describe.skip : describe)(`of a plain user${noUser ? ` (not checked: ${noUser})` : ''}`, () => {
  let user: HostOfUser;
  afterEach(async () => {
    await user.end();
    expect(await survivors(user.dataDir, user.cwd)).toEqual([]);
  });
  const start = (code: string): Promise<unknown> =>
    user.call('run', USER_SESSION, { id: newMark(), runtime: 'terminal', code });
  const resetUser = (): Promise<unknown> =>
    user.call('reset', USER_SESSION, { id: newMark(), reason: 'r', by: 'reset' });

  test('none of any kind survives a reset, if user namespaces are allowed; else none that a search finds', async () => {
    user = hostOfUser();
    const { treeKill } = await user.status();
    const kinds = treeKill === 'process-search' ? ESCAPEES.found : ESCAPEES.all;
    const marks = kinds.map(newMark);
    await start(everyKind(marks));
    await untilAllRun(marks);
    await resetUser();
    expect(await survivors(...marks)).toEqual([]);
    expect(await user.status()).toMatchObject({ survivors: [], command: { killedBy: { by: 'reset' } } });
  });

  test('none survives the SIGKILL of the holder, if user namespaces are allowed', async () => {
    user = hostOfUser();
    const { treeKill } = await user.status();
    const marks = treeKill === 'process-search' ? [] : ESCAPEES.all.map(newMark);
    await start(everyKind(marks));
    await untilAllRun(marks);
    const [holder] = processesMarked(user.dataDir).filter((line) => line.includes('dist/holder.js'));
    process.kill(pidOf(holder), 'SIGKILL');
    expect(await survivors(...marks)).toEqual([]);
    expect((await user.status()).command).toMatchObject({ lost: true });
  });

  test('a process that has become root is not ended, and is reported as a survivor for as long as it runs', async () => {
    user = hostOfUser('process-search');
    const asRoot = join(user.cwd, 'as-root');
    copyFileSync('/usr/bin/setpriv', asRoot);
    chmodSync(asRoot, 0o4755);
    const mark = newMark();
    await start(
      `./as-root --reuid=0 --regid=0 --clear-groups sh -c 'trap "" HUP; while :; do sleep 0.2; done; : ${mark}'`,
    );
    // While setpriv itself runs, its user may still end it.
    const isRoot = (): boolean => processesMarked(mark).some((line) => /^\d+ sh -c/.test(line));
    expect(await eventually(isRoot, (yes) => yes)).toBe(true);
    await resetUser();
    const left = processesMarked(mark).map(pidOf);
    const snapshot = await user.status();
    const log = join(user.dataDir, 'sessions', 'user.local.0', 'log');
    const view = await commandView({ ref: USER_SESSION, logPath: log, snapshot, from: null });
    for (const pid of left) process.kill(pid, 'SIGKILL');
    expect(left).toHaveLength(1);
    expect(view).toMatchObject({ state: 'exited', killedBy: { by: 'reset' } });
    expect(view.survivors).toContain(left[0]);
    expect(await survivors(mark)).toEqual([]);
    expect(
      await eventually(
        async () => (await user.status()).survivors,
        (s) => s?.length === 0,
      ),
    ).toEqual([]);
  });
});

// System refusals are reported as such within seconds, run nothing, and end with their cause.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ErrorCode } from '../../../../contracts/errors/holdfast-error';
import { SessionHost } from '../../../../exec/host/session-host';
import { sessionPaths } from '../../../../exec/session-paths';
import { runDist } from '../../../helpers/engines/dist-process';
import { testHost, type TestHost } from '../../../helpers/terminals/session-host';
import { until } from '../../../helpers/until';
import { immutableFiles, isPossible, readOnlyMount } from '../../../helpers/hosts/unwritable';
import { endWithoutTrace, holderOf, logOf, otherSession } from '../session-processes';

const TOLD_MS = 10_000;

const immutable = isPossible(immutableFiles);

let t: TestHost;
afterEach(() => endWithoutTrace(t));

async function expectRefused(
  run: Promise<unknown>,
  expected: { code: ErrorCode; says: RegExp },
): Promise<void> {
  const since = Date.now();
  const error = await run.then(
    () => ({ code: 'none', message: 'it was run' }),
    (err: { code: string; message: string }) => err,
  );
  expect(error).toMatchObject({ code: expected.code, retryable: true });
  expect(error.message).toMatch(expected.says);
  expect(Date.now() - since).toBeLessThan(TOLD_MS);
}

const append = (id: string): Parameters<SessionHost['run']>[1] => ({
  id,
  runtime: 'terminal',
  code: `echo ${id} >> runs`,
});

/** A new session, and one that is open: both refuse a command, and run it under the same id when the cause is gone. */
async function expectRefusedAndRecovered(
  harm: () => void,
  undo: () => void,
  expected: { code: ErrorCode; says: RegExp },
): Promise<void> {
  await t.run('KEPT=1');
  const other = otherSession(t, 1);
  harm();
  try {
    await expectRefused(t.host.run(t.ref, append('open')), expected);
    await expectRefused(t.host.run(other, append('fresh')), expected);
  } finally {
    undo();
  }
  expect(t.host.commandRecord(t.ref, 'open')).toBeUndefined();
  expect(await t.run('echo open >> runs', { id: 'open' })).toMatchObject({ exitCode: 0, epoch: 1 });
  expect(await t.run('echo fresh >> runs', { id: 'fresh', ref: other })).toMatchObject({ exitCode: 0 });
  expect(readFileSync(join(t.cwd, 'runs'), 'utf8')).toBe('open\nfresh\n');
  expect((await t.run('echo "kept $KEPT"')).output).toBe('kept 1\n');
}

(isPossible(readOnlyMount) ? describe : describe.skip)('a folder on a read-only mount', () => {
  test('refuses commands as storage_failed, says that it is read-only, and takes the same ids later', async () => {
    t = testHost();
    await expectRefusedAndRecovered(
      () => readOnlyMount.forbid(t.dataDir),
      () => readOnlyMount.allow(t.dataDir),
      {
        code: 'storage_failed',
        says: /the file system is read-only \(.*EROFS.*; nothing was run\. Next: Mount it/s,
      },
    );
  });

  test('that becomes read-only while the shell of a command starts, keeps nothing of it, and takes its id later', async () => {
    t = testHost({ sandbox: null });
    const host = withSlowBash();
    const run = expectRefused(host.run(t.ref, append('early')), {
      code: 'storage_failed',
      says: /the file system is read-only \(.*EROFS.*; nothing was run\. Next: Mount it/s,
    });
    await until(() => existsSync(join(t.cwd, 'starting')));
    readOnlyMount.forbid(t.dataDir);
    try {
      writeFileSync(join(t.cwd, 'go'), '');
      await run;
    } finally {
      readOnlyMount.allow(t.dataDir);
    }
    expect(host.commandRecord(t.ref, 'early')).toBeUndefined();
    expect(await host.status(t.ref)).toMatchObject({ command: null });
    expect(await t.run('echo early >> runs', { id: 'early' })).toMatchObject({
      state: 'exited',
      exitCode: 0,
    });
    expect(readFileSync(join(t.cwd, 'runs'), 'utf8')).toBe('early\n');
    host.detach();
  });

  /** A host whose bash makes a file `starting` in the working folder, and starts when there is one named `go`. */
  function withSlowBash(): SessionHost {
    const { options } = t.host;
    const programs = join(t.cwd, 'programs');
    mkdirSync(programs);
    const [starting, go] = [join(t.cwd, 'starting'), join(t.cwd, 'go')];
    const waits = `#!/bin/sh\ntouch '${starting}'; until [ -e '${go}' ]; do sleep 0.02; done; exec /bin/bash "$@"\n`;
    writeFileSync(join(programs, 'bash'), waits, { mode: 0o755 });
    return new SessionHost({
      ...options,
      env: { ...options.env, PATH: `${programs}:${options.env['PATH'] ?? ''}` },
    });
  }
});

(immutable ? describe : describe.skip)('files that may not be changed', () => {
  const chattr = (flag: '+i' | '-i', ...paths: string[]): void =>
    void execFileSync('chattr', [flag, ...paths]);

  test('refuse commands as storage_failed, say so, and take the same ids later', async () => {
    t = testHost();
    const paths = [sessionPaths(t.dataDir, t.ref).commands, join(t.dataDir, 'sessions')];
    await expectRefusedAndRecovered(
      () => chattr('+i', ...paths),
      () => chattr('-i', ...paths),
      {
        code: 'storage_failed',
        says: /it may not be changed \(it is immutable.*EPERM.*; nothing was run\. Next: Let/s,
      },
    );
  });

  const degradedOnce = async (isWanted: (why: unknown) => boolean): Promise<unknown> => {
    for (const since = Date.now(); ;) {
      const { degraded } = await t.host.status(t.ref);
      if (isWanted(degraded) || Date.now() - since > TOLD_MS) return degraded;
    }
  };

  const stalled = async (): Promise<string> => {
    await t.run('KEPT=1; until [ -e go ]; do sleep 0.02; done; seq 3', { yield: { firstOutputMs: 20 } });
    const log = t.host.logPath(t.ref);
    chattr('+i', log);
    writeFileSync(join(t.cwd, 'go'), '');
    expect(await degradedOnce((why) => why !== null)).toMatch(/it may not be changed.*EPERM/);
    return log;
  };

  test('stall a terminal whose log is one of them, and no byte is lost', async () => {
    t = testHost();
    chattr('-i', await stalled());
    expect(await t.until({ kind: 'exit', from: 0, timeoutMs: 30_000 })).toMatchObject({ degraded: null });
    expect(logOf(t).toString()).toBe('1\r\n2\r\n3\r\n');
  });

  test('refuse a command after output that the log has not accepted, and accept the same id later', async () => {
    t = testHost();
    const log = await stalled();
    try {
      await t.host.reset(t.ref, { id: 'r1', reason: 'it hangs', by: 'reset' });
      const expected = { code: 'storage_failed', says: /it may not be changed.*EPERM/ } as const;
      await expectRefused(t.host.run(t.ref, append('later')), expected);
      expect(t.host.commandRecord(t.ref, 'later')).toBeUndefined();
    } finally {
      chattr('-i', log);
    }
    expect(await degradedOnce((why) => why === null)).toBeNull();
    await t.run('echo later >> runs', { id: 'later' });
    expect((await t.run('echo "kept $KEPT"')).output).toBe('kept \n');
    expect(readFileSync(join(t.cwd, 'runs'), 'utf8')).toBe('later\n');
    // What the terminal had given before it was paused.
    expect(logOf(t).toString()).toMatch(/^1\r\n/);
  });
});

describe('exhausted file descriptors', () => {
  const limit = (pid: number, descriptors: number | string): void =>
    void execFileSync('prlimit', ['--pid', String(pid), `--nofile=${descriptors}:`]);

  test('in a holder refuse its commands as resources_exhausted, tell a new host that it accepts no connection, and nothing is lost', async () => {
    t = testHost();
    await t.run('KEPT=1');
    const pid = holderOf(t);
    const [, before = '1024'] =
      /Max open files +(\d+)/.exec(readFileSync(`/proc/${pid}/limits`, 'utf8')) ?? [];
    limit(pid, 3);
    const anew = new SessionHost(t.host.options);
    try {
      await expectRefused(t.host.run(t.ref, append('open')), {
        code: 'resources_exhausted',
        says: /out of file descriptors for this process.*EMFILE.*; nothing was run\. Next: .*ulimit -n/s,
      });
      await expectRefused(anew.status(t.ref), {
        code: 'session_unreachable',
        says: /closes every connection|too busy to answer/,
      });
    } finally {
      limit(pid, before);
      anew.detach();
    }
    expect(await t.run('echo "kept $KEPT"', { id: 'open' })).toMatchObject({ output: 'kept 1\n', epoch: 1 });
  });

  test('in a host are reported as resources_exhausted, and no living session is taken for dead', async () => {
    t = testHost();
    await t.run('KEPT=1');
    const { cwd, treeKill } = t.host.options;
    const options = { dataDir: t.dataDir, cwd, env: {}, treeKill };
    const child = runDist(
      `const { SessionHost } = load('exec/host/session-host');
       const fs = require('node:fs');
       const host = new SessionHost(JSON.parse(args[0]));
       const ref = JSON.parse(args[1]);
       const told = [];
       const tell = (err) => told.push(err.code ?? String(err));
       const opened = [];
       try { for (;;) opened.push(fs.openSync('/dev/null')); } catch {}
       await host.status(ref).catch(tell);
       await host.run(ref, { id: 'x', runtime: 'terminal', code: 'touch ran' }).catch(tell);
       await host.run({ ...ref, session: 9 }, { id: 'y', runtime: 'terminal', code: 'touch ran' }).catch(tell);
       try { host.isOpen(ref); } catch (err) { tell(err); }
       for (const fd of opened) fs.closeSync(fd);
       const { epoch, command } = await host.status(ref);
       host.detach();
       console.log(JSON.stringify({ told, epoch, lost: command.lost, open: host.isOpen(ref) }));`,
      JSON.stringify(options),
      JSON.stringify(t.ref),
    );
    expect(JSON.parse(await child.nextLine())).toEqual({
      told: Array.from({ length: 4 }, () => 'resources_exhausted'),
      epoch: 1,
      lost: false,
      open: true,
    });
    await child.ended;
    expect((await t.run('echo "kept $KEPT"')).output).toBe('kept 1\n');
  });
});

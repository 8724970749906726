// A holder that lives but does not answer, or cannot be found: reported, waited for, or ended by the host itself.
import { cpSync, existsSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { SessionRef } from '../../../../contracts/ids';
import { HoldfastError } from '../../../../contracts/errors/holdfast-error';
import { armSession } from '../../../../exec/client/arm-session';
import { Attachment } from '../../../../exec/attach/attachment';
import { HolderClient, type HolderRecord } from '../../../../exec/client/holder-client';
import { contentHash } from '../../../../exec/command-records';
import { processStat } from '../../../../system/processes/proc';
import { isAlive } from '../../../../system/processes/process-identity';
import { SessionHost } from '../../../../exec/host/session-host';
import { sessionPaths } from '../../../../exec/session-paths';
import { readTree } from '../../../../exec/tree-record';
import type { TreeKill } from '../../../../contracts/sessions/session';
import { detectTreeKill } from '../../../../exec/processes/process-tree';
import { testHost, type TestHost } from '../../../helpers/terminals/session-host';
import { until } from '../../../helpers/until';
import {
  endWithoutTrace,
  eventually,
  holderOf,
  logOf,
  otherSession,
  processesMarked,
} from '../session-processes';
import { holderRecord } from '../../../helpers/terminals/holder-record';

/** Time limit for telling callers: it takes four seconds, and a busy machine more. */
const TOLD_MS = 10_000;

let t: TestHost;
beforeEach(() => (t = testHost()));
afterEach(async () => {
  try {
    process.kill(holderOf(t), 'SIGCONT');
  } catch {
    // It is gone, as its test meant.
  }
  await endWithoutTrace(t);
});

const recordOf = (): HolderRecord => holderRecord(t, t.ref);

/** What a call is refused with, and after how long. */
async function refusal(call: Promise<unknown>): Promise<{ error: HoldfastError; ms: number }> {
  const since = Date.now();
  const error = await call.then(
    () => undefined,
    (err: unknown) => err,
  );
  if (!(error instanceof HoldfastError)) throw new Error(`not refused as expected: ${String(error)}`);
  return { error, ms: Date.now() - since };
}

/** Stopped when this resolves, which is a moment after the signal. */
async function stop(): Promise<number> {
  const pid = holderOf(t);
  process.kill(pid, 'SIGSTOP');
  await until(() => processStat(pid)?.state === 'T');
  return pid;
}
const go = (): boolean => process.kill(holderOf(t), 'SIGCONT');

/** Follows the terminal until it ends. */
async function consume(place: Attachment): Promise<void> {
  for await (const change of place.changes(place.state.end)) if (change.kind === 'output') continue;
}

const SURVIVES_HANGUP = 'trap "" HUP; nohup setsid sleep 4000 >/dev/null 2>&1 & sleep 4000';

describe('a stopped holder', () => {
  test('is reported as such within seconds by every request, which then was not sent, and resumes when it is continued', async () => {
    await t.run('KEPT=1');
    const pid = await stop();
    const run = t.host.run(t.ref, { id: 'later', runtime: 'terminal', code: 'echo "kept $KEPT"' });
    const calls = [run, t.host.status(t.ref), t.host.input(t.ref, { id: 'i', text: 'x', keys: [] })];
    for (const { error, ms } of await Promise.all(calls.map(refusal))) {
      expect(error).toMatchObject({ code: 'session_unreachable', retryable: true, exitCode: 75 });
      expect(error.facts).toMatchObject({ session: 0, pid, state: 'stopped by a signal (T)' });
      expect(error.message).toMatch(
        /since 20\d\d-.*; nothing was sent to it.*kill -CONT \d+.*holdfast reset/s,
      );
      expect(ms).toBeLessThan(TOLD_MS);
    }
    expect(t.host.commandRecord(t.ref, 'later')).toBeUndefined();
    go();
    expect(await t.run('echo "kept $KEPT"', { id: 'later' })).toMatchObject({ output: 'kept 1\n' });
  });

  test('is reported within seconds while a command is watched, and nothing of the command is lost', async () => {
    await t.run('until [ -e go ]; do sleep 0.02; done; seq 2000; (exit 3)', { yield: { firstOutputMs: 20 } });
    const watched = refusal(t.host.observe(t.ref, { kind: 'exit', from: 0, timeoutMs: 60_000 }));
    // Answered after it on the same connection: the holder waits with it.
    await t.host.status(t.ref);
    await stop();
    const { error, ms } = await watched;
    expect(error).toMatchObject({ code: 'session_unreachable', facts: { state: 'stopped by a signal (T)' } });
    expect(error.message).toContain('what was sent to it may still be carried out');
    expect(ms).toBeLessThan(TOLD_MS);
    go();

    writeFileSync(`${t.cwd}/go`, '');
    expect(await t.until({ kind: 'exit', from: 0, timeoutMs: 30_000 })).toMatchObject({
      exitCode: 3,
      epoch: 1,
    });
    expect(logOf(t).toString()).toBe(Array.from({ length: 2_000 }, (_, i) => `${i + 1}\r\n`).join(''));
  });

  test('that is continued carries out once what was sent to it, and the same ids find it', async () => {
    await t.run('cat > typed', { yield: { firstOutputMs: 20 } });
    const client = await HolderClient.connect(recordOf());
    const other = otherSession(t, 1);
    await t.run(':', { ref: other });
    await stop();
    const typed = { id: 'typed-once', text: 'hello', keys: [] };
    const sent = client.request('input', typed);
    go();
    await sent;
    await t.host.input(t.ref, typed);
    await t.host.input(t.ref, { id: 'end', text: null, keys: ['ctrl-d'] });
    expect(await t.until({ kind: 'exit', from: 0, timeoutMs: 30_000 })).toMatchObject({ exitCode: 0 });
    expect(readFileSync(`${t.cwd}/typed`, 'utf8')).toBe('hello\n');
    const code = 'echo ran >> runs';
    const hash = contentHash('terminal', code);
    await stop();
    void client.request('run', { id: 'once', runtime: 'terminal', code, contentHash: hash });
    expect((await refusal(t.host.run(t.ref, { id: 'once', runtime: 'terminal', code }))).error.code).toBe(
      'session_unreachable',
    );
    go();
    expect(await t.run(code, { id: 'once' })).toMatchObject({ commandId: 'once', exitCode: 0 });
    expect(readFileSync(`${t.cwd}/runs`, 'utf8')).toBe('ran\n');
    client.close();
  });

  test('is reported within seconds to people who are attached, attach or arm it, and what they typed stays in order', async () => {
    await t.run('cat > typed', { yield: { firstOutputMs: 20 } });
    const attach = (): Promise<Attachment> =>
      Attachment.open(t.dataDir, t.ref, { typist: { who: 'ada', take: true }, size: null });
    const ada = await attach();
    const watched = refusal(consume(ada));
    const pid = await stop();
    const typed = ['one\r', 'two\r', 'three\r'].map((line) => refusal(ada.type(Buffer.from(line))));
    const sent = await Promise.all([watched, ...typed]);
    const refused = await Promise.all([attach(), armSession(t.dataDir, t.ref, 'print')].map(refusal));
    for (const { error, ms } of [...sent, ...refused]) {
      expect(error).toMatchObject({ code: 'session_unreachable', facts: { pid, session: 0 } });
      expect(ms).toBeLessThan(TOLD_MS);
    }
    for (const { error } of sent) expect(error.message).toContain('may still be carried out');
    for (const { error } of refused) expect(error.message).toContain('nothing was sent to it');
    go();
    await until(() => readFileSync(`${t.cwd}/typed`, 'utf8') === 'one\ntwo\nthree\n');
    (await attach()).close();
    ada.close();
  });

  test('of one session keeps no other from being opened or ended', async () => {
    await t.run(':');
    await stop();
    const other = otherSession(t, 1);
    expect(await t.run('echo fine', { ref: other })).toMatchObject({ output: 'fine\n' });
    await t.host.close(other, 'enough');
    expect(t.host.isOpen(other)).toBe(false);
  });
});

const kinds: TreeKill[] = [...new Set([detectTreeKill(), 'process-search' as const])];
describe.each(kinds)('with %s', (treeKill) => {
  beforeEach(async () => {
    await endWithoutTrace(t);
    t = testHost({ treeKill, sandbox: null });
  });

  test('a reset ends the whole tree of a stopped holder, once for its id, and the next command has a fresh epoch', async () => {
    const quick = { firstOutputMs: 50, betweenOutputMs: 50 };
    await t.run(`echo begun; ${SURVIVES_HANGUP}`, { id: 'lost', yield: quick });
    await until(() => logOf(t).toString() === 'begun\r\n');
    const holder = recordOf();
    await stop();
    const reset = { id: 'r1', reason: 'enough', by: 'reset' } as const;
    const since = Date.now();
    expect(await t.host.reset(t.ref, reset)).toMatchObject({
      epoch: 2,
      survivors: [],
      command: { id: 'lost', lost: true, killedBy: { by: 'reset' }, from: 0, to: 7 },
    });
    expect(Date.now() - since).toBeLessThan(16_000);
    const killedBy = t.host.commandRecord(t.ref, 'lost')?.killedBy;
    expect(killedBy?.reason).toBe(
      `enough; its holder (pid ${holder.identity.pid}) was killed: stopped by a signal (T)`,
    );
    expect(isAlive(holder.identity)).toBe(false);
    expect(processesMarked(t.cwd)).toEqual([]);
    const next = await t.run('sleep 4000', { yield: { firstOutputMs: 50 } });
    expect(next).toMatchObject({
      state: 'running',
      epoch: 2,
      freshShell: true,
    });
    await t.host.reset(t.ref, reset);
    expect(await t.host.status(t.ref)).toMatchObject({ epoch: 2, command: { endedAt: null } });
    expect(logOf(t).toString()).toBe('begun\r\n');
  });

  test('a reset ends what has outlived its shell, while its holder is stopped', async () => {
    await t.run(SURVIVES_HANGUP, { yield: { firstOutputMs: 50 } });
    const shell = readTree(sessionPaths(t.dataDir, t.ref))?.leader;
    await stop();
    process.kill(shell?.pid ?? 0, 'SIGKILL');
    await until(() => shell !== undefined && !isAlive(shell));
    expect(await t.host.reset(t.ref, { id: 'r', reason: null, by: 'reset' })).toMatchObject({
      survivors: [],
    });
    expect(processesMarked(t.cwd, t.dataDir)).toEqual([]);
  });

  test('a close ends the whole tree of a stopped holder', async () => {
    await t.run(SURVIVES_HANGUP, { yield: { firstOutputMs: 50 } });
    const holder = recordOf();
    await stop();
    const snapshot = await t.host.close(t.ref, 'closed here');
    expect(snapshot.command).toMatchObject({ lost: true, killedBy: { by: 'closed' } });
    expect(isAlive(holder.identity)).toBe(false);
    expect(processesMarked(t.cwd, t.dataDir)).toEqual([]);
  });

  describe('after its holder was killed', () => {
    const IN_BACKGROUND = 'trap "" HUP; nohup setsid sleep 4000 >/dev/null 2>&1 &';
    beforeEach(async () => {
      await t.run(IN_BACKGROUND);
      // By then it may only have been forked.
      await until(() => left().length === 1);
      const { identity } = recordOf();
      process.kill(identity.pid, 'SIGKILL');
      await until(() => !isAlive(identity));
    });
    const left = (): string[] => processesMarked(t.cwd).filter((line) => line.includes('sleep 4000'));

    const ends: [string, (ref: SessionRef) => Promise<unknown>][] = [
      ['a reset', (ref) => t.host.reset(ref, { id: 'r', reason: null, by: 'reset' })],
      ['a close', (ref) => t.host.close(ref, null)],
      ['the next command', () => t.run(':')],
      ['the end of all sessions', () => t.host.closeAll('down')],
    ];
    test.each(ends)('%s ends what it had started in the background', async (_, end) => {
      if (treeKill === 'process-search') expect(left()).toHaveLength(1);
      await end(t.ref);
      expect(await eventually(left, (found) => found.length === 0, 2_000)).toEqual([]);
    });

    test('a copy of the data folder ends nothing of it', async () => {
      const copy = testHost({ treeKill, sandbox: null });
      // Its sockets and pipes cannot be copied.
      const filter = (path: string): boolean => statSync(path).isDirectory() || path.endsWith('.json');
      cpSync(t.dataDir, copy.dataDir, { recursive: true, filter });
      await copy.host.reset(t.ref, { id: 'r', reason: null, by: 'reset' });
      await copy.end();
      expect(left()).toHaveLength(treeKill === 'process-search' ? 1 : 0);
    });
  });

  test('all sessions are ended within twenty seconds, and the ones that were killed are named', async () => {
    await t.run(SURVIVES_HANGUP, { yield: { firstOutputMs: 50 } });
    await t.run(':', { ref: otherSession(t, 1) });
    const pid = await stop();
    const since = Date.now();
    const closed = await t.host.closeAll('down');
    expect(Date.now() - since).toBeLessThan(20_000);
    expect(closed.sort((a, b) => a.ref.session - b.ref.session)).toMatchObject([
      { ref: t.ref, failure: null, killed: { pid, why: 'stopped by a signal (T)' }, survivors: [] },
      { ref: otherSession(t, 1), failure: null, killed: undefined },
    ]);
    expect(processesMarked(t.cwd, t.dataDir)).toEqual([]);
  });
});

describe('what a holder is found by', () => {
  const anew = (): SessionHost => new SessionHost(t.host.options);

  test.each([
    ['its socket', ({ socketPath }: HolderRecord) => socketPath],
    ['the folder of the sockets', ({ socketPath }: HolderRecord) => dirname(socketPath)],
    ['the record of itself', () => sessionPaths(t.dataDir, t.ref).holder],
  ])('is recreated when %s is removed, and the shell is the same', async (_what, pathOf) => {
    await t.run('KEPT=1');
    const path = pathOf(recordOf());
    rmSync(path, { recursive: true });
    await until(() => existsSync(path), TOLD_MS);
    const host = anew();
    await host.run(t.ref, { id: 'after', runtime: 'terminal', code: 'echo "kept $KEPT"' });
    await host.observe(t.ref, { kind: 'exit', from: 0, timeoutMs: 30_000 });
    host.detach();
    expect(logOf(t).toString()).toBe('kept 1\r\n');
  });

  test.each([
    ['its socket', ({ socketPath }: HolderRecord) => socketPath],
    ['the record of itself', () => sessionPaths(t.dataDir, t.ref).holder],
  ])('is recreated as soon as a request misses %s, also by an idle holder', async (_what, pathOf) => {
    await t.run('KEPT=1');
    const path = pathOf(recordOf());
    // The look that recreates it finds nothing running, so the next look is further away than any caller waits.
    rmSync(path);
    await until(() => existsSync(path), TOLD_MS);
    rmSync(path);
    const host = anew();
    await host.run(t.ref, { id: 'after', runtime: 'terminal', code: 'echo "kept $KEPT"' });
    await host.observe(t.ref, { kind: 'exit', from: 0, timeoutMs: 30_000 });
    host.detach();
    expect(logOf(t).toString()).toBe('kept 1\r\n');
  });

  test.each([
    ['removed', (path: string) => rmSync(path)],
    ['emptied', (path: string) => truncateSync(path)],
  ])('is waited for when its record was %s just now, and no second holder is started', async (_how, harm) => {
    await t.run('KEPT=1; echo $BASHPID');
    const { identity } = recordOf();
    harm(sessionPaths(t.dataDir, t.ref).holder);
    const host = anew();
    await host.run(t.ref, { id: 'after', runtime: 'terminal', code: 'echo "kept $KEPT"' });
    expect(await host.observe(t.ref, { kind: 'exit', from: 0, timeoutMs: 30_000 })).toMatchObject({
      snapshot: { epoch: 1, command: { id: 'after', exitCode: 0 } },
    });
    host.detach();
    expect(recordOf().identity).toEqual(identity);
    expect(logOf(t).toString()).toMatch(/kept 1\r\n$/);
  });

  test('is reported as missing if it is not recreated', async () => {
    await t.run(':');
    const { socketPath } = recordOf();
    const pid = await stop();
    rmSync(socketPath);
    const host = anew();
    const person = Attachment.open(t.dataDir, t.ref, { typist: null, size: null });
    const calls = [host.status(t.ref), person, armSession(t.dataDir, t.ref, 'print')];
    for (const { error, ms } of await Promise.all(calls.map(refusal))) {
      expect(error).toMatchObject({ code: 'session_unreachable', facts: { pid } });
      expect(ms).toBeLessThan(TOLD_MS);
    }
    host.detach();
  });

  test('is gone with the folder of its session: then its tree and the holder end', async () => {
    await t.run(SURVIVES_HANGUP, { yield: { firstOutputMs: 50 } });
    const { identity } = recordOf();
    const { directory } = sessionPaths(t.dataDir, t.ref);
    rmSync(directory, { recursive: true });
    await until(() => !isAlive(identity));
    expect(existsSync(directory)).toBe(false);
    await until(() => processesMarked(t.cwd, t.dataDir).length === 0);
  });
});

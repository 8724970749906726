// S15: a reset ends everything that the session started, and nothing else.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { testHost, type TestHost } from '../../../helpers/terminals/session-host';
import { until } from '../../../helpers/until';
import { ESCAPEES, newMark } from '../sandbox/escapees';
import {
  endWithoutTrace,
  eventually,
  logOf,
  otherSession,
  processesMarked,
  reset,
  survivors,
} from '../session-processes';

let t: TestHost;
beforeAll(() => (t = testHost()));
afterAll(() => endWithoutTrace(t));

/** Starts a tree and waits until it is seen from outside. */
async function startTree(code: (mark: string) => string, ref = t.ref): Promise<string> {
  const mark = newMark();
  await t.run(code(mark), { ref, yield: { firstOutputMs: 20, betweenOutputMs: 20 } });
  expect(
    await eventually(
      () => processesMarked(mark),
      (found) => found.length > 0,
    ),
  ).not.toEqual([]);
  return mark;
}

test.each(ESCAPEES.found)('a process %s does not survive a reset for two seconds', async (_name, code) => {
  const mark = await startTree(code);
  await reset(t);
  expect(await survivors(mark)).toEqual([]);
});

test('a hundred processes at once do not survive a reset', async () => {
  const mark = await startTree((m) => `for i in {1..100}; do bash -c 'sleep 600; : ${m}' & done; wait`);
  const begun = await eventually(
    () => processesMarked(mark).length,
    (count) => count >= 100,
  );
  expect(begun).toBeGreaterThanOrEqual(100);
  await reset(t);
  expect(await survivors(mark)).toEqual([]);
});

test('a background job of an earlier command does not survive a reset of an idle session', async () => {
  const mark = await startTree((m) => `setsid bash -c 'sleep 600; : ${m}' & disown`);
  expect(await t.run('echo idle')).toMatchObject({ state: 'exited' });
  await reset(t);
  expect(await survivors(mark)).toEqual([]);
});

test('a program may end cleanly: TERM comes before KILL', async () => {
  await t.run(
    `bash -c 'trap "echo saved > ${t.cwd}/clean; exit 0" TERM; echo ready; while :; do sleep 0.05; done'`,
    {
      yield: { betweenOutputMs: 50 },
    },
  );
  await until(() => logOf(t).toString().includes('ready'));
  await reset(t);
  expect(readFileSync(join(t.cwd, 'clean'), 'utf8')).toBe('saved\n');
});

test('so may one that blocks TERM for a moment, as a shell does while it forks', async () => {
  const code = [
    'import os, signal, time',
    'def save(*_):',
    `  open("${t.cwd}/saved", "w").write("saved")`,
    '  os._exit(0)',
    'signal.signal(signal.SIGTERM, save)',
    'while True:',
    '  signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])',
    '  print("blocked", flush=True)',
    '  time.sleep(0.2)',
    '  signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])',
  ].join('\n');
  await t.run(`python3 -c '${code}'`, { yield: { betweenOutputMs: 50 } });
  await until(() => logOf(t).toString().includes('blocked'));
  await reset(t);
  expect(readFileSync(join(t.cwd, 'saved'), 'utf8')).toBe('saved');
});

test('only the session that was reset is touched', async () => {
  const other = otherSession(t, 1);
  await t.run('KEPT=1', { ref: other });
  const alive = await startTree((m) => `bash -c 'while :; do sleep 0.2; done; : ${m}'`, other);
  const [leader] = processesMarked(alive);
  const mark = await startTree((m) => `bash -c 'while :; do sleep 0.2; done; : ${m}'`);
  await reset(t);
  expect(await survivors(mark)).toEqual([]);
  expect(processesMarked(alive)).toContain(leader);
  expect((await t.until({ kind: 'exit', from: 0, timeoutMs: 1 }, other)).state).toBe('running');
  await reset(t, other);
});

test('a reset repeated with its id does nothing', async () => {
  const request = { id: 'once', reason: 'first', by: 'reset' } as const;
  await t.run('sleep 600', { yield: { firstOutputMs: 20 } });
  const { epoch } = await t.host.reset(t.ref, request);
  const mark = await startTree((m) => `bash -c 'while :; do sleep 0.2; done; : ${m}'`);
  // The loop itself: what it forks has its command line for a moment.
  const [leader] = processesMarked(mark);
  expect(await t.host.reset(t.ref, request)).toMatchObject({ epoch });
  expect(processesMarked(mark)).toContain(leader);
  expect((await t.until({ kind: 'exit', from: 0, timeoutMs: 1 })).state).toBe('running');
  await reset(t);
});

test('resets that arrive at once with one id end one epoch', async () => {
  const { epoch } = await t.run('sleep 600', { yield: { firstOutputMs: 20 } });
  const request = { id: 'at-once', reason: null, by: 'reset' } as const;
  const answers = await Promise.all(Array.from({ length: 20 }, () => t.host.reset(t.ref, request)));
  expect(new Set(answers.map((answer) => answer.epoch))).toEqual(new Set([epoch + 1]));
});

test('a reset records its reason and opens a new epoch', async () => {
  const running = await t.run('X=1; sleep 600', { yield: { firstOutputMs: 20 } });
  await reset(t, t.ref, 'hangs');
  expect(await t.until({ kind: 'exit', from: 0, timeoutMs: 30_000 })).toMatchObject({
    state: 'exited',
    exitCode: null,
    killedBy: { by: 'reset', reason: 'hangs' },
    epoch: running.epoch + 1,
  });
  expect(await t.run('echo "[$X]"')).toMatchObject({
    output: '[]\n',
    freshShell: true,
    epoch: running.epoch + 1,
  });
});

test('a program that ends itself when told to is still recorded as ended by the reset', async () => {
  await t.run(`bash -c 'trap "exit 0" TERM; echo r; while :; do sleep 0.05; done'`, {
    yield: { betweenOutputMs: 50 },
  });
  await reset(t, t.ref, 'why not');
  expect((await t.until({ kind: 'exit', from: 0, timeoutMs: 30_000 })).killedBy).toEqual({
    by: 'reset',
    reason: 'why not',
  });
});

test('late output of the old epoch never appears', async () => {
  await t.run(
    `trap '' TERM HUP INT; (trap '' TERM HUP INT; while :; do echo OLD; done) & while :; do echo OLD; done`,
    {
      yield: { maxMs: 200 },
    },
  );
  await reset(t);
  const { end } = await t.host.status(t.ref);
  const view = await t.run('for i in 1 2 3 4 5; do echo new; sleep 0.05; done');
  expect(view.from).toBe(end);
  expect(logOf(t).subarray(end).toString()).toBe('new\r\n'.repeat(5));
});

test('a waiting observer is answered by the reset', async () => {
  await t.run('sleep 600', { yield: { firstOutputMs: 20 } });
  const end = t.until({ kind: 'exit', from: 0, timeoutMs: 30_000 });
  await reset(t, t.ref, 'enough');
  expect(await end).toMatchObject({ state: 'exited', killedBy: { by: 'reset', reason: 'enough' } });
});

test('a reset of a session that never began is not an error and starts nothing', async () => {
  const ref = otherSession(t, 9);
  expect(await t.host.reset(ref, { id: 'r', reason: null, by: 'reset' })).toMatchObject({ command: null });
  expect(t.host.isOpen(ref)).toBe(false);
});

test('a process outside of every session is untouched by a reset', async () => {
  const mark = newMark();
  const outside = execFileSync('sh', ['-c', `sh -c 'sleep 600; : ${mark}' >/dev/null 2>&1 & echo $!`], {
    encoding: 'utf8',
  });
  try {
    await t.run('sleep 600', { yield: { firstOutputMs: 20 } });
    await reset(t);
    expect(processesMarked(mark)).toHaveLength(1);
  } finally {
    execFileSync('sh', ['-c', `kill -9 $(cat /proc/${outside.trim()}/task/*/children) ${outside.trim()}`]);
  }
});

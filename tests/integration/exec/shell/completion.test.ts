// S2, S4, S7, S8, S18: an end is a fact of the operating system, reported at once and with its cause.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { testHost, type TestHost } from '../../../helpers/terminals/session-host';
import { endWithoutTrace, holderOf, logOf, otherSession, reset } from '../session-processes';

let t: TestHost;
beforeAll(() => (t = testHost()));
afterAll(() => endWithoutTrace(t));

const MINUTES = 600_000;

test.each([
  ['the defaults', {}],
  [
    'ten minutes of everything',
    { firstOutputMs: MINUTES, betweenOutputMs: MINUTES, maxMs: MINUTES, promptMs: MINUTES },
  ],
])(
  'a command of 50 ms answers at its end, long before a yield, with its exit code under %s',
  async (_name, settings) => {
    await t.run(':');
    const began = Date.now();
    const view = await t.run('sleep 0.05; (exit 6)', { yield: settings });
    expect(Date.now() - began).toBeLessThan(9_000);
    expect(view).toMatchObject({ state: 'exited', exitCode: 6, yielded: null });
    expect(view.durationMs).toBeGreaterThanOrEqual(50);
  },
);

describe('the end of a command does not depend on the look of a prompt', () => {
  afterEach(() => reset(t));

  test.each([
    ['custom', `PS1='>>> '; PS2='... '`],
    ['like a shell of its own', `PS1='\\u@\\h:\\w\\$ '`],
    ['empty', `PS1=`],
    ['unset', `unset PS1 PS2 PS4`],
    ['made by a command substitution', `PS1='$(echo prompt; exit 9)'`],
    ['printed by PROMPT_COMMAND', `PROMPT_COMMAND='echo hijacked; (exit 9)'`],
    ['printed by an array of PROMPT_COMMANDs', `PROMPT_COMMAND=('echo a' 'echo b')`],
    ['without PROMPT_COMMAND', `unset PROMPT_COMMAND`],
    ['with another PS0', `PS0='running '`],
  ])('when the prompt is %s', async (_name, setUp) => {
    expect(await t.run(setUp)).toMatchObject({ state: 'exited', exitCode: 0, output: '' });
    expect(await t.run('echo after; (exit 7)')).toMatchObject({
      state: 'exited',
      exitCode: 7,
      output: 'after\n',
    });
    expect(await t.run('echo again')).toMatchObject({ exitCode: 0, output: 'again\n', freshShell: false });
  });

  test.each([
    ['a dollar prompt', 'user@host:~$ '],
    ['a root prompt', 'root@host:/# '],
    ['a Python prompt', '>>> '],
    ['a zsh prompt', 'host% '],
  ])('when the output ends in %s while the process sleeps', async (_name, text) => {
    const go = join(t.cwd, `go-${text.charCodeAt(0)}`);
    const code = `printf '%s' '${text}'; until [ -e '${go}' ]; do sleep 0.02; done; exit_code() { return 5; }; exit_code`;
    const running = await t.run(code, { yield: { betweenOutputMs: 200 } });
    expect(running).toMatchObject({
      state: 'running',
      exitCode: null,
      yielded: 'between_output',
      waiting: null,
    });
    writeFileSync(go, '');
    expect(await t.until({ kind: 'exit', from: 0, timeoutMs: 30_000 })).toMatchObject({
      state: 'exited',
      exitCode: 5,
    });
    expect(logOf(t).subarray(running.from).toString()).toBe(text);
  });
});

describe('the shell itself', () => {
  const shellEnds: [string, string, object][] = [
    ['exit 3', 'exit 3', { exitCode: 3, signal: null, killedBy: null }],
    ['exit 0', 'exit', { exitCode: 0, signal: null, killedBy: null }],
    ['set -e', 'set -euo pipefail; false', { exitCode: 1, signal: null, killedBy: null }],
    ['set -u', 'set -u; set -e; echo "$NOT_SET"', { exitCode: 1, signal: null, killedBy: null }],
    [
      'an EXIT trap',
      `trap 'echo bye; exit 8' EXIT; exit 1`,
      { exitCode: 8, output: 'bye\n', killedBy: null },
    ],
    ['exec of a program that ends', 'exec sh -c "exit 4"', { exitCode: 4, signal: null, killedBy: null }],
    [
      'kill -9 $$',
      'kill -9 $$',
      { exitCode: 137, signal: 'SIGKILL', killedBy: { by: 'signal', reason: 'SIGKILL' } },
    ],
    [
      'kill -ABRT $$',
      'kill -ABRT $$',
      { exitCode: 134, signal: 'SIGABRT', killedBy: { by: 'signal', reason: 'SIGABRT' } },
    ],
  ];

  test.each(shellEnds)(
    'ended by %s is reported at once; the next command gets a fresh shell and says so',
    async (_name, code, end) => {
      const before = await t.run('KEPT=1');
      const view = await t.run(code);
      expect(view).toMatchObject({ state: 'exited', yielded: null, epoch: before.epoch, ...end });
      // A yield would come later.
      expect(view.durationMs).toBeLessThan(9_000);
      const next = await t.run('echo "[$KEPT]"');
      expect(next).toMatchObject({ output: '[]\n', freshShell: true, epoch: before.epoch + 1 });
      expect(await t.run(':')).toMatchObject({ freshShell: false, epoch: before.epoch + 1 });
    },
  );
});

describe('what does not end the shell', () => {
  test.each([
    ['a syntax error', 'if then', 2],
    ['an unterminated quote', 'echo "', 2],
    ['a command that does not exist', 'no-such-command-here', 127],
    ['exec of a missing program', 'exec no-such-program-here', 127],
    ['return', 'return 4', 4],
    ['a stray break', '(exit 5); break', 0],
    ['a stray continue', 'continue', 0],
    ['false', 'false', 1],
    ['a pipeline', 'exit 3 | exit 6', 6],
    ['a child that was killed', 'sh -c "kill -9 \\$\\$"', 137],
  ])('%s ends with its exit code and leaves the shell as it was', async (_name, code, exitCode) => {
    const { epoch } = await t.run('KEPT=yes');
    expect(await t.run(code)).toMatchObject({ state: 'exited', exitCode, killedBy: null, epoch });
    expect(await t.run('echo $KEPT')).toMatchObject({ output: 'yes\n', freshShell: false, epoch });
  });

  test('functions, arrays, aliases and shell options persist', async () => {
    await t.run(
      'f() { echo "f $1"; }; a=(x y z); shopt -s expand_aliases; alias hi="echo hello"; shopt -s nullglob',
    );
    expect((await t.run('f 1; echo ${a[2]}; hi; echo *.nothing')).output).toBe('f 1\nz\nhello\n\n');
    await reset(t);
  });
});

test('a session that was reset says who ended the command and why', async () => {
  const ref = otherSession(t, 1);
  await t.run('sleep 600', { ref, yield: { firstOutputMs: 50 } });
  await reset(t, ref, 'took too long');
  expect(await t.until({ kind: 'exit', from: 0, timeoutMs: 30_000 }, ref)).toMatchObject({
    state: 'exited',
    exitCode: null,
    signal: 'SIGKILL',
    killedBy: { by: 'reset', reason: 'took too long' },
  });
});

test('a closed session says that it was closed', async () => {
  const ref = otherSession(t, 2);
  await t.run('sleep 600', { ref, yield: { firstOutputMs: 50 } });
  const { command } = await t.host.close(ref, 'no longer needed');
  expect(command).toMatchObject({ killedBy: { by: 'closed', reason: 'no longer needed' } });
  expect(t.host.isOpen(ref)).toBe(false);
});

describe('who ended a command is recorded, and stays available to later callers', () => {
  const host = { by: 'host_lost', reason: 'the process that held the terminal died' };
  const ends: [who: string, code: string, end: (ref: TestHost['ref']) => unknown, record: object][] = [
    ['its own exit', '(exit 5)', () => undefined, { exitCode: 5, signal: null, killedBy: null, lost: false }],
    [
      'a signal to a child',
      'sh -c "kill -TERM \\$\\$"',
      () => undefined,
      { exitCode: 143, signal: null, killedBy: null },
    ],
    [
      'a signal to the shell',
      'kill -SEGV $$',
      () => undefined,
      { exitCode: 139, signal: 'SIGSEGV', killedBy: { by: 'signal', reason: 'SIGSEGV' } },
    ],
    [
      'a reset',
      'sleep 600',
      (ref) => reset(t, ref, 'in the way'),
      { exitCode: null, signal: 'SIGKILL', killedBy: { by: 'reset', reason: 'in the way' } },
    ],
    [
      'a reset without a reason',
      'sleep 600',
      (ref) => reset(t, ref),
      { killedBy: { by: 'reset', reason: null } },
    ],
    [
      'a close',
      'sleep 600',
      (ref) => t.host.close(ref, 'done'),
      { killedBy: { by: 'closed', reason: 'done' } },
    ],
    [
      'the loss of its holder',
      'sleep 600',
      (ref) => process.kill(holderOf(t, ref), 'SIGKILL'),
      { exitCode: null, lost: true, killedBy: host },
    ],
  ];

  test.each(ends)('%s', async (who, code, end, record) => {
    const ref = otherSession(t, 50);
    const id = `ended by ${who}`;
    await t.run(code, { ref, id, yield: { firstOutputMs: 30 } });
    await end(ref);
    await t.until({ kind: 'exit', from: 0, timeoutMs: 30_000 }, ref);
    expect((await t.host.status(ref)).command).toMatchObject({ id, ...record });
    await t.run('echo another', { ref });
    const again = await t.host.run(ref, { id, runtime: 'terminal', code });
    expect(again.command).toMatchObject({ id, ...record });
    expect(t.host.commandRecord(ref, id)).toMatchObject({ id, ...record });
  });

  test('no timeout: a command that outlives all of its limits keeps running, and ends by itself', async () => {
    const ref = otherSession(t, 51);
    const once = { firstOutputMs: 1, betweenOutputMs: 1, maxMs: 1, promptMs: 1 };
    const running = await t.run('until [ -e late ]; do sleep 0.02; done; (exit 4)', { ref, yield: once });
    expect(running).toMatchObject({ state: 'running', exitCode: null, killedBy: null });
    expect(await t.until({ kind: 'exit', from: 0, timeoutMs: 50 }, ref)).toMatchObject({ state: 'running' });
    writeFileSync(join(t.cwd, 'late'), '');
    expect(await t.until({ kind: 'exit', from: 0, timeoutMs: 30_000 }, ref)).toMatchObject({
      exitCode: 4,
      killedBy: null,
    });
  });
});

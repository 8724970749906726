// S16, I1-I3: typed input reaches the waiting program once and unaltered, or is refused.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { CommandView, Key } from '../../../../contracts/sessions/session';
import { testHost, type TestHost } from '../../../helpers/terminals/session-host';
import { endWithoutTrace, eventually, holderOf, logOf, otherSession, reset } from '../session-processes';

let t: TestHost;
beforeAll(() => (t = testHost()));
afterEach(async () => {
  if ((await t.host.status(t.ref)).command?.endedAt === null) await reset(t);
});
afterAll(() => endWithoutTrace(t));

let inputs = 0;
const type = (
  text: string | null,
  keys: Key[] = [],
  id = `i${++inputs}`,
  ref = t.ref,
): ReturnType<TestHost['host']['input']> => t.host.input(ref, { id, text, keys });
const exit = (ref = t.ref): Promise<CommandView> =>
  t.until({ kind: 'exit', from: 0, timeoutMs: 30_000 }, ref);
const waits = (ref = t.ref): Promise<CommandView> =>
  t.until({ kind: 'needs_input', from: 0, timeoutMs: 30_000 }, ref);
const prints = async (text: string): Promise<void> => {
  expect(
    await eventually(
      () => logOf(t).toString(),
      (log) => log.includes(text),
    ),
  ).toContain(text);
};

describe('typing', () => {
  test.each([
    ['text and Enter', 'hello', [], '[hello]'],
    ['an empty text as just Enter', '', [], '[]'],
    ['the word up as a word', 'up', [], '[up]'],
    ['the word ctrl-c as a word', 'ctrl-c', [], '[ctrl-c]'],
    ['non-ASCII text', 'naïve 日本 🎉', [], '[naïve 日本 🎉]'],
    ['quotes and dollars as they are', `"$HOME" 'x' \`y\``, [], `["$HOME" 'x' \`y\`]`],
    ['leading and trailing blanks', '  a  ', [], '[  a  ]'],
    ['the key enter', null, ['enter'], '[]'],
    ['keys after text', 'abc', ['up'], '[abc]'],
    ['the end of input by name', null, ['ctrl-d'], '[]'],
  ] as [string, string | null, Key[], string][])('sends %s', async (_name, text, keys, output) => {
    await t.run('IFS= read -r x; echo "[$x]"');
    await type(text, keys);
    const { from, to, exitCode } = await exit();
    expect(exitCode).toBe(0);
    expect(logOf(t).subarray(from, to).toString()).toContain(output);
  });

  test.each([
    ['up', '1b5b41'],
    ['down', '1b5b42'],
    ['tab', '09'],
    ['escape', '1b'],
    ['backspace', '7f'],
    ['home', '1b5b48'],
    ['page-down', '1b5b367e'],
    ['ctrl-c', '03'],
    ['ctrl-d', '04'],
    ['ctrl-\\', '1c'],
  ] as [Key, string][])('sends the key %s as a terminal in raw mode does', async (key, hex) => {
    const bytes = hex.length / 2;
    await t.run(`stty raw -echo; echo ready; head -c ${bytes} | od -An -tx1 | tr -d ' \\n'; stty sane`);
    await type(null, [key]);
    const { from, to } = await exit();
    expect(logOf(t).subarray(from, to).toString()).toMatch(new RegExp(`ready\\s+${hex}$`));
  });

  test('answers several questions one after the other', async () => {
    await t.run('read -p "name? " a; read -p "age? " b; echo "$a is $b"');
    await type('Ada');
    await prints('age? ');
    await type('36');
    expect((await exit()).output).toBe('name? Ada\nage? 36\nAda is 36\n');
  });

  test('what a program did not read does not become input of the next command', async () => {
    const running = await t.run('read x; until [ -e stop ]; do sleep 0.02; done; rm stop');
    expect(running.state).toBe('waiting_input');
    await type('one\ntwo\nthree');
    await type('touch pwned');
    await t.run('touch ../stop 2>/dev/null; :', { ref: otherSession(t, 5) });
    await t.run(`touch '${t.cwd}/stop'`, { ref: otherSession(t, 5) });
    await exit();
    const next = await t.run('read -t 0.3 x; echo "[$x]"');
    expect(next.output).toBe('[]\n');
    expect(existsSync(join(t.cwd, 'pwned'))).toBe(false);
  });
});

describe('without a running process', () => {
  test('input is refused and nothing is executed', async () => {
    const { to } = await t.run(':');
    await expect(type('touch executed')).rejects.toMatchObject({
      code: 'no_running_process',
      retryable: false,
    });
    await expect(type(null, ['ctrl-c'])).rejects.toMatchObject({ code: 'no_running_process' });
    expect(await t.run('ls executed 2>/dev/null; echo none')).toMatchObject({ output: 'none\n', from: to });
  });

  test('input to a shell that has ended is refused without a crash', async () => {
    await t.run('exit 3');
    await expect(type('x')).rejects.toMatchObject({ code: 'no_running_process' });
    expect(await t.until({ kind: 'exit', from: 0, timeoutMs: 1 })).toMatchObject({
      state: 'exited',
      exitCode: 3,
    });
    expect(await t.run('echo alive')).toMatchObject({ output: 'alive\n', freshShell: true });
  });

  test('input to a session that was reset is refused, and a second reset is not an error', async () => {
    await t.run('sleep 600', { yield: { firstOutputMs: 20 } });
    await reset(t);
    await expect(type(null, ['ctrl-c'])).rejects.toMatchObject({ code: 'no_running_process' });
    await reset(t);
    expect((await exit()).killedBy).toMatchObject({ by: 'reset' });
  });

  test('input to a session that never began answers that there is no terminal', async () => {
    expect(await type('x', [], 'never', otherSession(t, 99))).toBeUndefined();
  });
});

describe('the same input id', () => {
  test('delivered 100 times, one after the other, types once', async () => {
    await t.run(`while read -r x && [ "$x" != end ]; do echo "got $x"; done`);
    const first = await type('once', [], 'same');
    for (let i = 1; i < 100; i++) expect((await type('once', [], 'same'))?.at).toBe(first?.at);
    await type('end');
    expect((await exit()).output.match(/got once/g)).toHaveLength(1);
  });

  test('delivered 100 times at once types once', async () => {
    await t.run(`while read -r x && [ "$x" != end ]; do echo "got $x"; done`);
    await Promise.all(Array.from({ length: 100 }, () => type('once', [], 'same at once')));
    await type('end');
    expect((await exit()).output.match(/got once/g)).toHaveLength(1);
  });

  test('of a refused input may be reused', async () => {
    await t.run(':');
    await expect(type('later', [], 'again')).rejects.toMatchObject({ code: 'no_running_process' });
    await t.run('read -r x; echo "[$x]"');
    await type('later', [], 'again');
    expect((await exit()).output).toContain('[later]');
  });
});

/** It prints once it is the foreground job: what is typed earlier reaches the shell, which handles it otherwise. */
const SLEEPER = `sh -c 'echo begun; exec sleep 600'`;

describe('ctrl-c', () => {
  test.each([
    ['a sleeping job', SLEEPER, 130],
    // Without `read -t`: bash keeps a last status above 128, which a read that timed out leaves, as the code.
    ['a loop of the shell itself', 'echo begun; while :; do :; done', 130],
    ['a reader', 'echo begun; cat', 130],
    ['a pipeline', 'echo begun; sleep 600 | cat', 130],
    ['a nested shell', 'bash -c "echo begun; sleep 600; exit 5"', 130],
    [
      'a program with a handler of its own',
      `bash -c 'trap "echo caught; exit 42" INT; echo begun; while :; do sleep 0.05; done'`,
      42,
    ],
    [
      'a program that ends well when interrupted',
      `bash -c 'trap "exit 0" INT; echo begun; while :; do sleep 0.05; done'`,
      0,
    ],
  ])('ends %s and its exit code is reported', async (_name, code, exitCode) => {
    const { epoch } = await t.run('KEPT=1');
    await t.run(code, { yield: { betweenOutputMs: 150 } });
    await type(null, ['ctrl-c']);
    expect(await exit()).toMatchObject({ state: 'exited', exitCode, killedBy: null, epoch });
    expect(await t.run('echo $KEPT')).toMatchObject({ output: '1\n', epoch });
  });

  test('leaves an idle session that is not looked at', async () => {
    await t.run('echo begun; while :; do :; done', { yield: { betweenOutputMs: 150 } });
    await type(null, ['ctrl-c']);
    await exit();
    // A look reads the states of all processes of the session. The questions of this test come by a socket.
    const holder = holderOf(t);
    const looks = (): number => Number(/syscr: (\d+)/.exec(readFileSync(`/proc/${holder}/io`, 'utf8'))?.[1]);
    const before = looks();
    await delay(2_500);
    expect(looks() - before).toBeLessThan(10);
  });

  test('reaches a program whose input queue is full', async () => {
    await t.run('echo begun; sleep 600', { yield: { betweenOutputMs: 100 } });
    await type(`${'x'.repeat(1_000)}\n`.repeat(60));
    await type(null, ['ctrl-c']);
    expect(await exit()).toMatchObject({ exitCode: 130 });
    await reset(t);
  });

  test('ends a Python program with a KeyboardInterrupt and 130', async () => {
    await t.run('import time\nprint("begun", flush=True)\ntime.sleep(600)', {
      runtime: 'python',
      yield: { betweenOutputMs: 100 },
    });
    await type(null, ['ctrl-c']);
    const end = await exit();
    expect(end).toMatchObject({ exitCode: 130 });
    expect(end.output).toContain('KeyboardInterrupt');
  });

  test('runs a trap of the session itself while the shell is running, and its code is reported', async () => {
    await t.run(`trap 'echo caught; exit 6' INT; echo begun; while :; do :; done`, {
      yield: { betweenOutputMs: 100 },
    });
    await type(null, ['ctrl-c']);
    expect(await exit()).toMatchObject({ state: 'exited', exitCode: 6, killedBy: null });
    expect(await t.run('echo alive')).toMatchObject({ output: 'alive\n', freshShell: true });
  });

  // bash's own rule (jobs.c, wait_for): in a loop, as the driver's, a child's SIGINT interrupts and runs no trap.
  test('ends a program of a session with a trap as without one, and the shell and its trap live', async () => {
    await t.run(`trap 'echo caught; exit 6' INT; ${SLEEPER}`, { yield: { betweenOutputMs: 100 } });
    await type(null, ['ctrl-c']);
    expect(await exit()).toMatchObject({ state: 'exited', exitCode: 130, killedBy: null });
    expect(await t.run('trap; trap - INT')).toMatchObject({
      output: "trap -- 'echo caught; exit 6' SIGINT\n",
      freshShell: false,
    });
  });

  test('twice ends what only asks the first time', async () => {
    await t.run(
      `bash -c 'n=0; trap "((n++)) && exit 9; echo once more" INT; echo begun; while :; do sleep 0.05; done'`,
      { yield: { betweenOutputMs: 100 } },
    );
    await type(null, ['ctrl-c']);
    await prints('once more');
    await type(null, ['ctrl-c']);
    expect(await exit()).toMatchObject({ exitCode: 9 });
  });

  test('ctrl-z and ctrl-\\ reach the foreground job too', async () => {
    await t.run(SLEEPER, { yield: { betweenOutputMs: 100 } });
    await type(null, ['ctrl-\\']);
    expect(await exit()).toMatchObject({ exitCode: 131 });
    await t.run(SLEEPER, { yield: { betweenOutputMs: 100 } });
    await type(null, ['ctrl-z']);
    expect(await exit()).toMatchObject({ exitCode: 148 });
    expect((await t.run('kill -9 %%; wait; echo next')).output).toContain('next\n');
  });
});

test('waits for input are reported again after each answer', async () => {
  await t.run('read -p "a? " a; read -p "b? " b');
  expect(await waits()).toMatchObject({
    state: 'waiting_input',
    waiting: { echo: true, certainty: 'certain' },
  });
  await type('1');
  expect(await waits()).toMatchObject({ state: 'waiting_input', output: 'a? 1\nb? ' });
  await type('2');
  expect(await exit()).toMatchObject({ exitCode: 0 });
});

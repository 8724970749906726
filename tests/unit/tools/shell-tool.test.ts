import { existsSync, mkdirSync, readFileSync, realpathSync } from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';
import { runProgram } from '../../../tools/programs/run-program';
import { isAlive, identityOf } from '../../../system/processes/process-identity';
import { toolOnHost, type ToolOnHost } from '../../helpers/tools/tool-call';
import { until } from '../../helpers/until';

let shell: ToolOnHost;
beforeEach(() => {
  shell = toolOnHost('shell', { ONLY: 'this' });
});
afterEach(() => shell.remove());

test.each([
  ['a list is run without a shell', ['printf', '%s|', '$HOME', '*', 'a b'], '$HOME|*|a b|', 0],
  ['a text is run by bash', 'for i in {1..3}; do echo $i; done; [[ a == a ]] && exit 4', '1\n2\n3\n', 4],
  ['both streams come in their order', 'echo a; echo b >&2; echo c; echo d >/dev/stderr', 'a\nb\nc\nd\n', 0],
  ['stdin is empty', ['cat'], '', 0],
  ['a program that dies of a signal says so as in a shell', 'kill -TERM $$', '', 143],
  ['what is no UTF-8 is replaced', ['printf', '\\377x'], '\ufffdx', 0],
])('%s', async (_what, command, output, exitCode) => {
  expect(await shell.value({ command })).toEqual({ output, exit_code: exitCode });
});

test('a missing program is exit code 127 and named', async () => {
  expect(await shell.value({ command: ['no-such-program', 'x'] })).toEqual({
    output: 'no-such-program: no such program on the PATH of the host\n',
    exit_code: 127,
  });
});

test('a program has the environment of the host and nothing of the worker’s', async () => {
  process.env.WORKER_SECRET = 'x';
  const { output } = (await shell.value({ command: ['env'] })) as { output: string };
  delete process.env.WORKER_SECRET;
  expect(output.split('\n').sort()).toEqual(['', 'ONLY=this', `PATH=${process.env.PATH}`]);
});

test('it runs in the working folder, or in another one counted from there', async () => {
  mkdirSync(join(shell.directory, 'below'));
  const here = realpathSync(shell.directory);
  expect(await shell.value({ command: ['pwd'] })).toMatchObject({ output: `${here}\n` });
  expect(await shell.value({ command: ['pwd'], workdir: 'below' })).toMatchObject({
    output: `${here}/below\n`,
  });
  expect(await shell.error({ command: ['pwd'], workdir: 'absent' })).toMatchObject({ code: 'not_found' });
});

test('of long output beginning and end are kept, with how much is left out between them', async () => {
  const command = 'echo first; yes ää | head -c 3000000; echo last';
  const { output } = (await shell.value({ command })) as { output: string };
  expect(output).toMatch(/^first\n/);
  expect(output).toMatch(/\nlast\n$/);
  expect(Buffer.byteLength(output)).toBeLessThan(1_100_000);
  const [, omitted] = /\n\[(\d+) bytes omitted\]\n/.exec(output) ?? [];
  const shown = Buffer.byteLength(output.replace(/\n\[\d+ bytes omitted\]\n/, ''));
  expect(Number(omitted) + shown).toBe('first\n'.length + 3_000_000 + 'last\n'.length);
  expect((await shell.text({ command })).length).toBeLessThan(17_000);
});

test('a job that holds the output does not hold the answer', async () => {
  const began = Date.now();
  const { output } = (await shell.value({ command: 'sleep 600 & echo $!' })) as { output: string };
  process.kill(Number(output), 'SIGKILL');
  expect(Date.now() - began).toBeLessThan(5_000);
});

const pidsIn = (file: string): number[] => readFileSync(file, 'utf8').trim().split('\n').map(Number);
const STUBBORN =
  'trap "" TERM; echo $$ >>pids; (trap "" TERM; echo $BASHPID >>pids; while :; do sleep 0.1; done) & wait';

async function untilBothRun(file: string): Promise<ReturnType<typeof identityOf>[]> {
  await until(() => {
    try {
      return pidsIn(file).length === 2;
    } catch {
      return false;
    }
  });
  return pidsIn(file).map((pid) => identityOf(pid));
}

test('a command whose turn is stopped ends with its whole group, even if that ignores SIGTERM', async () => {
  const stop = new AbortController();
  const running = shell.value({ command: STUBBORN }, { signal: stop.signal });
  const both = await untilBothRun(join(shell.directory, 'pids'));
  stop.abort(new Error('stopped'));
  await expect(running).rejects.toThrow('stopped');
  await until(() => both.every((one) => !isAlive(one)));
});

test('at the time-out the group ends, and the answer has what was printed until then', async () => {
  // Long enough for both to have begun on a busy machine, too.
  const running = shell.value({ command: `echo begun; ${STUBBORN}`, timeout_ms: 5_000 });
  const both = await untilBothRun(join(shell.directory, 'pids'));
  expect(await running).toEqual({
    output: 'begun\n[ended after the timeout of 5000 ms]\n',
    exit_code: 124,
  });
  await until(() => both.every((one) => !isAlive(one)));
});

test.each([
  [{}, '"/command'],
  [{ command: [] }, '"/command'],
  [{ command: ' ' }, '"/command'],
  [{ command: ['a\0b'] }, '"/command'],
  [{ command: ['ls'], timeout_ms: 0 }, '"/timeout_ms"'],
  [{ command: ['ls'], cwd: '/' }, 'cwd'],
])('bad arguments are refused with their place: %j', async (args, place) => {
  const error = await shell.error(args);
  expect(error.code).toBe('invalid_input');
  expect(error.message).toContain(place);
});

test('arguments that the system does not take are refused, and not left unknown', async () => {
  expect(await shell.error({ command: ['echo', 'x'.repeat(300_000)] })).toMatchObject({
    code: 'invalid_input',
    message: expect.stringContaining('E2BIG') as string,
  });
});

test('it never runs a second time', async () => {
  expect(await shell.error({ command: ['true'] }, { attempt: 2 })).toMatchObject({ code: 'unknown_outcome' });
});

test('a call that is cancelled while its program is being started runs nothing', async () => {
  const over = new AbortController();
  const mark = join(shell.directory, 'mark');
  const run = runProgram({
    argv: ['touch', mark],
    cwd: shell.directory,
    env: { PATH: process.env.PATH ?? '' },
    signal: over.signal,
    maxBytes: 100,
  });
  over.abort(new Error('cancelled'));
  await expect(run).rejects.toThrow('cancelled');
  expect(existsSync(mark)).toBe(false);
});

test('a program that could not be started has had no effect, and its caller is told so', async () => {
  // Jest hands each test a copy of the environment, which the system's module does not read.
  const folder = jest.spyOn(os, 'tmpdir').mockReturnValue(join(shell.directory, 'no-such-folder'));
  try {
    expect(await shell.error({ command: ['true'] })).toMatchObject({
      code: 'storage_failed',
      message: expect.stringContaining('nothing was run') as string,
    });
  } finally {
    folder.mockRestore();
  }
});

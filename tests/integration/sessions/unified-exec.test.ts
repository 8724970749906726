// exec_command and write_stdin over real sessions.
import { mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { HoldfastClient } from '../../../client/holdfast-client';
import type { ToolContext } from '../../../tools/tool';
import type { ExecResult } from '../../../tools/sessions/unified-exec';
import { testClient, uniqueId } from '../../helpers/engines/temporal';
import { toolOnHost, type ToolOnHost } from '../../helpers/tools/tool-call';
import { until } from '../../helpers/until';

let client: HoldfastClient;
let exec: ToolOnHost;
let stdin: ToolOnHost;
let agent: string;
let calls = 0;

beforeAll(async () => {
  client = await testClient();
  exec = toolOnHost('exec_command');
  stdin = toolOnHost('write_stdin');
});
afterAll(async () => {
  await client.close();
  exec.remove();
  stdin.remove();
});
beforeEach(() => {
  agent = uniqueId('unified');
});
afterEach(async () => {
  const query = `WorkflowId STARTS_WITH "exec/${agent}/" AND ExecutionStatus = "Running"`;
  for await (const { workflowId } of client.temporal.workflow.list({ query })) {
    const session = Number(workflowId.split('/').at(-1));
    // One that the list still has may be closed already.
    await client
      .session({ agent, session })
      .close('test ended')
      .catch(() => undefined);
  }
});

const context = (changes: Partial<ToolContext> = {}): Partial<ToolContext> => ({
  client,
  agent,
  settings: { cwd: exec.directory },
  key: `call-${++calls}`,
  host: null,
  ...changes,
});
const run = (cmd: string, args: object = {}, changes: Partial<ToolContext> = {}): Promise<ExecResult> =>
  exec.value({ cmd, ...args }, context(changes)) as Promise<ExecResult>;
const write = (session_id: number | null, chars?: string, args: object = {}): Promise<ExecResult> =>
  stdin.value(
    { session_id, ...(chars !== undefined && { chars }), ...args },
    context(),
  ) as Promise<ExecResult>;

/** Looks until this is printed: at its time a busy machine may not have begun it. The output of all looks together. */
async function untilPrinted(first: ExecResult, text: string): Promise<ExecResult> {
  let { output } = first;
  while (!output.includes(text) && first.session_id !== null)
    output += (await write(first.session_id, '', { yield_time_ms: 250 })).output;
  return { ...first, output };
}

/** Looks until the process has ended; the output of all looks together. */
async function toTheEnd(first: ExecResult): Promise<ExecResult> {
  let result = first;
  let { output } = first;
  while (result.session_id !== null) {
    result = await write(result.session_id);
    output += result.output;
  }
  return { ...result, output };
}

test('a command that ends at once answers with its output and exit code, and frees its session', async () => {
  const result = await run('echo out; echo err >&2; exit 3');
  expect(result).toMatchObject({ output: 'out\nerr\n', exit_code: 3, session_id: null });
  expect(result.original_token_count).toBe(3);
  await until(async () => {
    const { count } = await client.temporal.workflow.count(
      `WorkflowId STARTS_WITH "exec/${agent}/" AND ExecutionStatus = "Completed"`,
    );
    return count === 1;
  });
});

test('each command is a new process: nothing of one is left for the next', async () => {
  expect(await run('x=1; export y=2; cd /; false')).toMatchObject({ exit_code: 1 });
  expect(await run('echo "[$x$y]"; pwd')).toMatchObject({ output: `[]\n${realpathSync(exec.directory)}\n` });
});

test('a command that still runs answers at its time with a session ID, and then the rest exactly once', async () => {
  const cmd = 'echo one; while [ ! -e go ]; do sleep 0.05; done; echo two; exit 4';
  const first = await untilPrinted(await run(cmd, { yield_time_ms: 250 }), 'one\n');
  expect(first).toMatchObject({ output: 'one\n', exit_code: null });
  expect(first.session_id).toBeGreaterThanOrEqual(1_000);
  expect(await write(first.session_id, '', { yield_time_ms: 250 })).toMatchObject({
    output: '',
    session_id: first.session_id,
  });
  await run('touch go');
  expect(await toTheEnd({ ...first, output: '' })).toMatchObject({ output: 'two\n', exit_code: 4 });
});

test('characters are typed as they are, with and without a line’s end', async () => {
  const first = await run('read -rn1 key; read -r line; echo "<$key|$line>"', { yield_time_ms: 10_000 });
  expect(first.session_id).not.toBeNull();
  const second = await write(first.session_id, 'q');
  expect(second).toMatchObject({ output: '', exit_code: null });
  expect(await toTheEnd(await write(first.session_id, ' a b \n'))).toMatchObject({
    output: '<q|a b>\n',
    exit_code: 0,
  });
});

test('Ctrl-C and Ctrl-D do what they do at a terminal', async () => {
  const sleeping = await untilPrinted(await run('echo pid; exec sleep 600', { yield_time_ms: 250 }), 'pid\n');
  expect(await toTheEnd(await write(sleeping.session_id, '\u0003'))).toMatchObject({ exit_code: 130 });
  const reading = await run('cat; echo end');
  expect(await toTheEnd(await write(reading.session_id, 'x\n\u0004'))).toMatchObject({
    output: 'x\nend\n',
    exit_code: 0,
  });
});

test.each([
  [true, 'x\n<x>\n'],
  [false, '<x>\n'],
])('typed text is echoed if a terminal was requested: %s', async (tty, output) => {
  const first = await run('read -r line; echo "<$line>"', { tty });
  expect(await toTheEnd(await write(first.session_id, 'x\n'))).toMatchObject({ output });
});

test('an interpreter is driven line by line', async () => {
  const first = await run('python3 -q -i', { tty: true, yield_time_ms: 1_000 });
  const second = await write(first.session_id, 'print(6 * 7)\n', { yield_time_ms: 1_000 });
  expect((await untilPrinted(second, '42')).output).toContain('42');
  expect(await toTheEnd(await write(first.session_id, 'exit(5)\n'))).toMatchObject({ exit_code: 5 });
});

test('folder, shell and login are as asked for', async () => {
  mkdirSync(join(exec.directory, "it's"));
  expect(await run('pwd; echo $0', { workdir: "it's", shell: 'sh' })).toMatchObject({
    output: `${realpathSync(exec.directory)}/it's\nsh\n`,
  });
  for (const workdir of ['~', '~/'])
    expect(await run('[ "$PWD" -ef "$HOME" ] && echo home', { workdir })).toMatchObject({ output: 'home\n' });
  expect(await run('shopt -q login_shell && echo login', { login: true })).toMatchObject({
    output: 'login\n',
  });
  expect(await run('echo x', { workdir: 'absent' })).toMatchObject({
    output: expect.stringContaining('absent') as string,
    exit_code: 1,
  });
});

test('long output is cut to the requested tokens, with beginning, end and the amount left out', async () => {
  const cmd = 'seq -f "line %06g" 10000';
  const all = Array.from({ length: 10_000 }, (_, i) => `line ${String(i + 1).padStart(6, '0')}\n`).join('');
  const short = await run(cmd, { max_output_tokens: 100 });
  expect(short.original_token_count).toBeGreaterThanOrEqual(all.length / 4);
  expect(short.output.length).toBeLessThan(500);
  expect(short.output).toMatch(/^line 000001\n[^]*\[\d+ bytes omitted[^]*line 010000\n$/);
  const usual = await run(cmd);
  expect(usual.output.length).toBeGreaterThan(35_000);
  expect(usual.output.length).toBeLessThan(41_000);
  expect(usual.output).toMatch(/^line 000001\n[^]*bytes omitted[^]*line 010000\n$/);
  expect((await run(cmd, { max_output_tokens: 40_000 })).output).toBe(all);
});

test('a second attempt of the same call finds the command and runs nothing again', async () => {
  const key = 'the-same';
  const cmd = 'echo ran >>runs; echo $RANDOM';
  const first = await run(cmd, {}, { key });
  const again = await run(cmd, {}, { key, attempt: 2 });
  expect(again).toMatchObject({ output: first.output, exit_code: 0, session_id: null });
  expect(readFileSync(join(exec.directory, 'runs'), 'utf8')).toBe('ran\n');
});

test('a call whose session is taken runs in another one, where a second attempt finds it', async () => {
  const key = 'taken';
  // The session that the key leads to first is opened by someone else.
  const { session_id: session } = await run('sleep 600', { yield_time_ms: 250 }, { key });
  const ref = { agent, session: session ?? 0 };
  await client.session(ref).close('to be taken');
  await client.session(ref).closed();
  await client.session(ref).exec({ code: 'sleep 600', yield: { firstOutputMs: 250, maxMs: 250 } });
  const other = 'echo other >>others; echo $RANDOM; exec sleep 600';
  const first = await run(other, { yield_time_ms: 250 }, { key });
  expect(first.session_id).not.toBe(ref.session);
  await client.session(ref).reset();
  const again = await run(other, { yield_time_ms: 250 }, { key, attempt: 2 });
  expect(again.session_id).toBe(first.session_id);
  expect(readFileSync(join(exec.directory, 'others'), 'utf8')).toBe('other\n');
});

test('many at once each get their own session and their own output', async () => {
  const results = await Promise.all(
    Array.from({ length: 12 }, (_, i) => run(`echo ${i}; sleep 0.2; echo ${i}`)),
  );
  expect(results.map(({ output }) => output)).toEqual(results.map((_, i) => `${i}\n${i}\n`));
}, 60_000);

test('typing into a process that has ended reports its end, and types nothing', async () => {
  const first = await run('read -r -t 0.5 line; echo end; exit 6', { yield_time_ms: 250 });
  await until(async () => {
    const { command } = await client.session({ agent, session: first.session_id ?? 0 }).state();
    return command === null;
  });
  expect(await write(first.session_id, 'touch intruder\n')).toMatchObject({ exit_code: 6, session_id: null });
  const after = await write(first.session_id, 'touch intruder\n');
  expect(after).toMatchObject({ exit_code: 6, session_id: null });
  expect((await run('ls')).output).not.toContain('intruder');
});

test('a session that never was is an error', async () => {
  expect(await stdin.error({ session_id: 999_999 }, context())).toMatchObject({ code: 'not_found' });
});

test('the answer that a model reads is that of unified exec', async () => {
  const { content } = await exec.result({ cmd: 'echo hi' }, context());
  expect(content).toMatch(
    /^Wall time: \d+\.\d{4} seconds\nProcess exited with code 0\nOriginal token count: 1\nOutput:\nhi\n$/,
  );
  const running = await exec.result({ cmd: 'echo hi; exec sleep 600', yield_time_ms: 250 }, context());
  expect(running.content).toMatch(/\nProcess running with session ID \d+\n/);
});

test('a script may not wait for the session that it runs in', async () => {
  const caller = { session: 990_001, commandId: 'c', cwd: '/', within: [990_001], callsLeft: 1 };
  expect(await stdin.error({ session_id: 990_001 }, context({ caller }))).toMatchObject({
    code: 'would_deadlock',
  });
});

test('a command of a script begins in the folder of the script', async () => {
  const caller = { session: 0, commandId: 'c', cwd: '/usr', within: [0], callsLeft: 1 };
  expect(await run('pwd', {}, { caller })).toMatchObject({ output: '/usr\n' });
});

test.each([
  [{ cmd: ' ' }, '"cmd"'],
  [{ cmd: 'a\0' }, '"cmd"'],
  [{ cmd: 'x'.repeat(200_000) }, '"cmd"'],
  [{ cmd: 'ls', max_output_tokens: -1 }, '"max_output_tokens"'],
  [{ cmd: 'ls', yield_time_ms: 'soon' }, '"yield_time_ms"'],
])('bad arguments are refused with their place', async (args, place) => {
  expect(await exec.error(args, context())).toMatchObject({
    code: 'invalid_input',
    message: expect.stringContaining(place) as string,
  });
});

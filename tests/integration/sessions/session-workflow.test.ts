import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HoldfastClient } from '../../../client/holdfast-client';
import type { SessionHandle } from '../../../client/session-handle';
import type { CommandView } from '../../../contracts/sessions/session';
import { QUICK_YIELD, scratch, testClient, uniqueId, type Scratch } from '../../helpers/engines/temporal';
import { count } from '../../helpers/run/long-run';
import { readTree } from '../../../exec/tree-record';
import { sessionPaths } from '../../../exec/session-paths';
import { isAlive } from '../../../system/processes/process-identity';
import { until } from '../../helpers/until';

let client: HoldfastClient;
let files: Scratch;
const opened: SessionHandle[] = [];

beforeAll(async () => {
  client = await testClient();
  files = scratch();
});
afterAll(async () => {
  await Promise.all(opened.map((session) => session.close('test ended').catch(() => undefined)));
  await client.close();
  files.remove();
});

function newSession(): SessionHandle {
  const settings = { cwd: files.directory, yield: QUICK_YIELD };
  const session = client.session({ agent: uniqueId('test'), session: 0 }, settings);
  opened.push(session);
  return session;
}

const historyOf = async (workflowId: string): Promise<string[]> => {
  const { events } = await client.temporal.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).map((event) => String(event.eventType));
};

test('a session opened ahead has its shell before the first command, in its folder, and opens it once', async () => {
  const ref = { agent: uniqueId('ahead'), session: 0 };
  const session = client.session(ref, { cwd: '/usr' });
  const opened = await Promise.all([session.open(), session.open()]);
  expect(opened.map(({ commandId, epoch }) => [commandId, epoch])).toEqual([
    [null, 1],
    [null, 1],
  ]);
  expect(await session.exec({ code: 'pwd' })).toMatchObject({
    output: '/usr\n',
    epoch: 1,
    freshShell: false,
  });
  await session.close('done');
});

test('an agent opens the requested sessions in parallel with its first step, and closes them if unused', async () => {
  const id = uniqueId('ahead');
  const agent = client.agent(id);
  // Long enough to see the session open meanwhile, on a busy machine, too.
  const model = files.model([{ text: 'done', delayMs: 10_000 }]);
  await agent.start({ task: 'go', model, openSessions: [3] });
  const session = client.session({ agent: id, session: 3 });
  await until(async () => (await session.state().catch(() => null))?.status === 'idle');
  await agent.result();
  expect(await session.state()).toMatchObject({ status: 'closed' });
});

test('a quick command answers with its exit code and output, whatever the yield time', async () => {
  const view = await client
    .session({ agent: uniqueId('test'), session: 0 }, { cwd: files.directory })
    .exec({ code: 'echo hi; exit 3' });
  expect(view).toMatchObject({ state: 'exited', exitCode: 3, output: 'hi\n', yielded: null });
});

test('a command that outlives its yield answers with what there is, and the next look returns the rest exactly once', async () => {
  const session = newSession();
  const code = 'echo one; read -r answer; echo "two $answer"';
  const first = await session.exec({ code, reader: 'me' });
  expect(first).toMatchObject({ state: 'waiting_input', yielded: 'waiting_input', output: 'one\n', from: 0 });
  const second = await session.input({ keyboard: 'x', reader: 'me' });
  expect(second).toMatchObject({ state: 'exited', exitCode: 0, output: 'x\ntwo x\n', from: first.to });
  const third = await session.output({ reader: 'me' });
  expect(third).toMatchObject({ output: '', from: second.to, to: second.to });
});

test('a busy session refuses a command, which costs no history and types nothing', async () => {
  const session = newSession();
  await session.exec({ code: 'echo copying; cat > typed' });
  const before = await historyOf(session.workflowId);
  await expect(session.exec({ code: 'echo intruder' })).rejects.toMatchObject({
    code: 'busy',
    retryable: true,
    facts: { recent: 'copying' },
  });
  expect(await historyOf(session.workflowId)).toHaveLength(before.length);
  await session.input({ keys: ['ctrl-d'] });
  expect(readFileSync(join(files.directory, 'typed'), 'utf8')).toBe('');
});

test('the same command id sent again answers with the same result and runs nothing', async () => {
  const session = newSession();
  const code = 'echo ran >> ran-once; echo $RANDOM$RANDOM';
  const first = await session.exec({ code, id: 'same' });
  const again = await session.exec({ code, id: 'same' }, 'another-update-id');
  expect(again).toMatchObject({ output: first.output, from: first.from, to: first.to, exitCode: 0 });
  expect(readFileSync(join(files.directory, 'ran-once'), 'utf8')).toBe('ran\n');
});

test('a command that has ended and is sent again, to reset its session, answers with its end and leaves what runs now', async () => {
  const session = newSession();
  const ended = { code: 'echo once; (exit 3)', id: 'ended', reset: true };
  const first = await session.exec(ended);
  await session.exec({ code: 'read -r x; echo "got $x"', id: 'runs' });
  const again = await session.exec(ended, 'another-update-id');
  expect(again).toMatchObject({ commandId: 'ended', output: first.output, exitCode: 3, from: first.from });
  expect(await session.state()).toMatchObject({ status: 'waiting_input', command: { id: 'runs' } });
  expect(await session.input({ keyboard: 'x' })).toMatchObject({
    commandId: 'runs',
    output: 'x\ngot x\n',
    state: 'exited',
  });
  expect(await session.exec({ code: 'echo next' })).toMatchObject({ output: 'next\n' });
});

test('a command id used for other code is refused and runs nothing', async () => {
  const session = newSession();
  await session.exec({ code: 'true', id: 'mine' });
  const other = session.exec({ code: 'touch other-code-ran', id: 'mine' }, 'another');
  await expect(other).rejects.toMatchObject({ code: 'id_conflict' });
  expect(existsSync(join(files.directory, 'other-code-ran'))).toBe(false);
});

test.each([
  ['update id', (session: SessionHandle, code: string) => session.exec({ code }, 'reused')],
  ['id in the message', (session: SessionHandle, code: string) => session.exec({ code, id: 'reused' }, code)],
])('an %s that was used for other code is refused, and costs no history', async (_what, exec) => {
  const session = newSession();
  expect(await exec(session, 'echo first')).toMatchObject({ exitCode: 0, output: 'first\n' });
  const before = await historyOf(session.workflowId);
  await expect(exec(session, 'touch reused-ran; (exit 3)')).rejects.toMatchObject({ code: 'id_conflict' });
  expect(await historyOf(session.workflowId)).toHaveLength(before.length);
  expect(existsSync(join(files.directory, 'reused-ran'))).toBe(false);
  expect(await exec(session, 'echo first')).toMatchObject({ exitCode: 0, output: 'first\n' });
});

test('an id is that of its command after its session was closed, too', async () => {
  const session = newSession();
  await session.exec({ code: 'echo ran >> closed-ran' }, 'closed');
  await session.close('done');
  await session.closed();
  await expect(session.exec({ code: 'touch closed-other' }, 'closed')).rejects.toMatchObject({
    code: 'id_conflict',
  });
  expect(await session.exec({ code: 'echo ran >> closed-ran' }, 'closed')).toMatchObject({ exitCode: 0 });
  expect(readFileSync(join(files.directory, 'closed-ran'), 'utf8')).toBe('ran\n');
  expect(existsSync(join(files.directory, 'closed-other'))).toBe(false);
});

test('ids of other commands may be any text, such as constructor and __proto__', async () => {
  const session = newSession();
  for (const id of ['constructor', '__proto__'])
    expect(await session.exec({ code: `echo ${id}`, reader: 'constructor' }, id)).toMatchObject({
      output: `${id}\n`,
    });
  expect(await session.output({ reader: 'constructor' })).toMatchObject({ output: '' });
});

test('an input id that was used for other content types nothing; a signal with it is recorded as refused', async () => {
  const session = newSession();
  await session.exec({ code: 'while read -r line; do echo "got $line" >> reused-inputs; done' });
  await session.input({ keyboard: 'one' }, 'typed');
  await expect(session.input({ keyboard: 'two' }, 'typed')).rejects.toMatchObject({ code: 'id_conflict' });
  await session.signalInput({ keyboard: 'three', id: 'typed' });
  await session.input({ keyboard: 'one' }, 'typed');
  await session.input({ keyboard: 'last' });
  expect(readFileSync(join(files.directory, 'reused-inputs'), 'utf8')).toBe('got one\ngot last\n');
  expect((await session.state()).refused).toEqual([expect.stringContaining('The id typed was already used')]);
});

test('a reset id that was used with another reason ends nothing', async () => {
  const session = newSession();
  await session.exec({ code: 'sleep 1000' });
  expect(await session.reset({ reason: 'one' }, 'reset')).toMatchObject({ epoch: 2 });
  await session.exec({ code: 'sleep 1000' });
  await expect(session.reset({ reason: 'two' }, 'reset')).rejects.toMatchObject({ code: 'id_conflict' });
  expect(await session.output()).toMatchObject({ state: 'running', epoch: 2 });
});

test('the same input id sent a hundred times, by update and by signal, types once', async () => {
  const session = newSession();
  await session.exec({ code: 'while read -r line; do echo "got $line" >> inputs; done' });
  const updates = Array.from({ length: 50 }, (_, n) =>
    session.input({ keyboard: 'hello', id: 'once' }, `u${n}`),
  );
  const signals = Array.from({ length: 50 }, () => session.signalInput({ keyboard: 'hello', id: 'once' }));
  await Promise.all([...updates, ...signals]);
  await session.input({ keys: ['ctrl-d'] });
  expect(readFileSync(join(files.directory, 'inputs'), 'utf8')).toBe('got hello\n');
});

test('input without a running process is refused, costs no history and executes nothing', async () => {
  const session = newSession();
  await session.exec({ code: 'true' });
  const before = await historyOf(session.workflowId);
  await expect(session.input({ keyboard: 'touch executed' })).rejects.toMatchObject({
    code: 'no_running_process',
  });
  expect(await historyOf(session.workflowId)).toHaveLength(before.length);
  expect(existsSync(join(files.directory, 'executed'))).toBe(false);
});

test('a signalled input reaches the process, and a malformed signal is recorded as refused', async () => {
  const session = newSession();
  await session.exec({ code: 'read -r x; echo "signalled $x"' });
  const handle = client.temporal.workflow.getHandle(session.workflowId);
  await handle.signal('input', { keyboards: 'typo' });
  await handle.signal('input', { keyboard: 'yes' });
  expect(await session.output({ wait: 'exit', from: 0 })).toMatchObject({
    output: 'yes\nsignalled yes\n',
    exitCode: 0,
  });
  expect((await session.state()).refused).toEqual([expect.stringContaining('has unknown keys keyboards')]);
});

test('a malformed yielded signal is recorded as refused, and the session continues', async () => {
  const session = newSession();
  await session.exec({ code: 'true' });
  await client.temporal.workflow.getHandle(session.workflowId).signal('yielded');
  expect(await session.exec({ code: 'echo on' })).toMatchObject({ output: 'on\n' });
  expect((await session.state()).refused).toHaveLength(1);
});

test('a yielded signal that cannot be shown is recorded as refused, and the command that runs is answered', async () => {
  const session = newSession();
  const code = 'until [ -e yielded ]; do sleep 0.05; done; echo on';
  const running = session.exec({ id: 'c', code, yield: { firstOutputMs: 60_000, maxMs: 60_000 } });
  const handle = client.temporal.workflow.getHandle(session.workflowId);
  await until(async () => (await session.state().catch(() => null))?.command?.id === 'c');
  for (const state of ['running', 'waiting_input', 'lost'])
    await handle.signal('yielded', { commandId: 'c', view: { state, commandId: 'c' } });
  await until(async () => (await session.state()).refused.length === 3);
  writeFileSync(join(files.directory, 'yielded'), '');
  expect(await running).toMatchObject({ state: 'exited', output: 'on\n' });
});

test('input signalled to a session that was opened again on a living shell is typed', async () => {
  const session = newSession();
  const handle = client.temporal.workflow.getHandle(session.workflowId);
  for (const word of ['first', 'second']) {
    await session.exec({ code: 'read -r x; echo "got $x"' });
    await handle.signal('input', { keyboard: word });
    expect((await session.output({ wait: 'exit' })).output).toContain(`got ${word}`);
    if (word === 'first') await handle.terminate('to be opened again');
  }
});

test('a pattern is found anywhere after the offset', async () => {
  const session = newSession();
  await session.exec({ code: 'echo MARKER; seq 1 60000; read -r x' });
  const view = await session.output({ wait: 'pattern:^MARKER$', from: 0, waitMs: 20_000, maxBytes: 64 });
  expect(view).toMatchObject({ state: 'waiting_input', from: 0 });
  expect(view.durationMs).toBeLessThan(15_000);
});

test('poll refreshes what the query output shows', async () => {
  const session = newSession();
  const first = await session.exec({ code: 'echo first; read -r x; echo second; read -r y' });
  expect(first.output).toBe('first\n');
  const handle = client.temporal.workflow.getHandle(session.workflowId);
  await handle.signal('input', { keyboard: 'go' });
  // It waits for input before it is typed, too.
  await session.output({ wait: 'pattern:second' });
  await session.output({ wait: 'needs_input' });
  await handle.signal('poll');
  // The look takes a moment, and its end is not announced.
  await until(async () => {
    const view = await handle.query<CommandView>('output');
    return view.output === 'first\ngo\nsecond\n' && view.state === 'waiting_input';
  });
});

test('reset ends the process, says why, and the next command begins in a fresh shell', async () => {
  const session = newSession();
  await session.exec({ code: 'export GONE=1; sleep 1000' });
  const view = await session.reset({ reason: 'it hangs' });
  expect(view).toMatchObject({
    state: 'exited',
    exitCode: null,
    killedBy: { by: 'reset', reason: 'it hangs' },
    epoch: 2,
  });
  expect(await session.exec({ code: 'echo "[$GONE]"' })).toMatchObject({
    output: '[]\n',
    freshShell: true,
    epoch: 2,
  });
});

test('cancelling the session workflow ends its tree, while a reset leaves the session open', async () => {
  const session = newSession();
  await session.exec({ code: 'sleep 1000', yield: { firstOutputMs: 50 } });
  const shell = readTree(sessionPaths(process.env.HOLDFAST_TEST_DATA ?? '', session.ref))?.leader;
  expect(shell && isAlive(shell)).toBe(true);
  const handle = client.temporal.workflow.getHandle(session.workflowId);
  await handle.cancel();
  await expect(handle.result()).rejects.toThrow('cancelled');
  expect(await handle.describe()).toMatchObject({ status: { name: 'CANCELLED' } });
  expect(await session.state()).toMatchObject({ status: 'closed', view: { killedBy: { by: 'closed' } } });
  expect(shell && isAlive(shell)).toBe(false);
});

test.each([
  [
    'an unknown runtime',
    { code: 'x', runtime: 'ruby' },
    /"\/runtime" must be one of terminal, python, nodejs/,
  ],
  ['empty code', { code: ' \n' }, /must hold at least one command/],
  ['code with NUL', { code: 'a\0b' }, /got a NUL character at position 1/],
  ['1 MB of code', { code: 'x'.repeat(1_000_000) }, /got 1000000 bytes, allowed 262144; write it to a file/],
  ['an unknown key', { code: 'x', cod: 1 }, /unknown keys cod/],
])(
  '%s is refused by client and by workflow alike, before it costs history',
  async (_what, request, message) => {
    const session = newSession();
    await expect(async () => session.exec(request as never)).rejects.toThrow(message);
    await session.exec({ code: 'true' });
    const before = await historyOf(session.workflowId);
    // As another SDK would send it: straight to the workflow.
    const handle = client.temporal.workflow.getHandle(session.workflowId);
    const update = handle.executeUpdate('exec', { args: [request] });
    await expect(update.catch((err: Error) => Promise.reject(err.cause as Error))).rejects.toThrow(message);
    expect(await historyOf(session.workflowId)).toHaveLength(before.length);
  },
);

test('an offset past the end and a session that does not exist are errors that say what is allowed', async () => {
  const session = newSession();
  await expect(session.output()).rejects.toMatchObject({ code: 'not_found' });
  await session.exec({ code: 'echo x' });
  await expect(session.output({ from: 9_999 })).rejects.toThrow('got 9999, allowed 0 to 3');
});

test('a wait ends when its condition is met: output, a pattern, silence, the end', async () => {
  const session = newSession();
  await session.exec({ code: 'for i in 1 2 3; do read -r x; echo "step $i $x"; done' });
  const waiting = session.output({ wait: 'pattern:step 2 b', waitMs: 20_000 });
  await session.input({ keyboard: 'a' });
  await session.input({ keyboard: 'b' });
  expect((await waiting).output).toContain('step 2 b');
  expect(await session.output({ wait: 'idle', waitMs: 20_000 })).toMatchObject({ state: 'waiting_input' });
  await session.input({ keyboard: 'c' });
  expect(await session.output({ wait: 'exit', waitMs: 20_000 })).toMatchObject({
    state: 'exited',
    exitCode: 0,
  });
});

test('a session that continues as new keeps its running command, its readers and the ids it has seen', async () => {
  const session = newSession();
  const code = 'while read -r line; do echo "got $line"; done';
  await session.exec({ code, id: 'long', reader: 'me' });
  await session.input({ keyboard: 'before', id: 'i-before', reader: 'me' });
  const handle = client.temporal.workflow.getHandle(session.workflowId);
  const { runId } = await handle.describe();
  // Each refused signal is an event: enough of them make the history long.
  for (let sent = 0; sent < count(500, 2_100); sent += 100)
    await Promise.all(Array.from({ length: 100 }, () => handle.signal('input', { nonsense: 1 })));
  const deadline = Date.now() + 60_000;
  while ((await handle.describe()).runId === runId) {
    if (Date.now() > deadline) throw new Error('it did not continue as new');
  }
  await session.input({ keyboard: 'before', id: 'i-before', reader: 'me' });
  const view = await session.input({ keyboard: 'after', id: 'i-after', reader: 'me' });
  expect(view).toMatchObject({ state: 'waiting_input', commandId: 'long', output: 'after\ngot after\n' });
  await session.input({ keys: ['ctrl-d'] });
  const all = await session.output({ from: 0, wait: 'exit' });
  expect(all).toMatchObject({ state: 'exited', exitCode: 0, commandId: 'long' });
  expect(all.output.match(/got \w+/g)).toEqual(['got before', 'got after']);
}, 120_000);

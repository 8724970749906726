// The limits of what a session's scripts have open, at the table that the holder keeps.
import { ToolCalls } from '../../../../exec/holder/calls/tool-calls';

const body = { tool: 'read_file', args: { file_path: 'x' }, cwd: '/' };
const stays = new AbortController().signal;

test('1,000 calls of a session may be open at a time, and the next is refused until one has ended', async () => {
  const calls = new ToolCalls(1);
  const token = calls.issue('command');
  const open = Array.from({ length: 1_000 }, () => calls.call(token, body, stays));
  expect(await calls.call(token, body, stays)).toMatchObject({
    callId: null,
    error: { code: 'budget_exceeded', message: expect.stringContaining('got 1001 calls') as string },
  });
  calls.answer({ id: 'e1c1', answer: { callId: 'e1c1', ok: true, value: 'text' } });
  expect(await open[0]).toMatchObject({ ok: true, value: 'text' });
  void calls.call(token, body, stays);
  const { calls: listed } = await calls.poll({ seen: 0 }, stays);
  expect(listed.map(({ id }) => id)).toContain('e1c1001');
});

test('the scripts of a command may call until 32 further commands have begun', async () => {
  const calls = new ToolCalls(1);
  const token = calls.issue('background');
  for (let n = 1; n <= 31; n++) calls.issue(`later-${n}`);
  const early = calls.call(token, body, stays);
  calls.answer({ id: 'e1c1', answer: { callId: 'e1c1', ok: true, value: 'text' } });
  expect(await early).toMatchObject({ ok: true });
  calls.issue('later-32');
  expect(await calls.call(token, body, stays)).toMatchObject({ error: { code: 'script_ended' } });
});

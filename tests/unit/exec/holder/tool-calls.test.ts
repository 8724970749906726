// The holder's open calls: what a worker gets of them at a time, and what is not taken at all.
import { ToolCalls } from '../../../../exec/holder/calls/tool-calls';
import { MAX_FRAME_BYTES, encodeFrame, type ScriptAnswer } from '../../../../exec/protocol';

const signal = new AbortController().signal;
const value = (answer: ScriptAnswer): unknown => (answer.ok ? answer.value : answer.error.code);

function calls(): { all: ToolCalls; call: (args: object, tool?: string) => Promise<unknown> } {
  const all = new ToolCalls(1);
  const token = all.issue('c');
  const call = (args: object, tool = 'echo'): Promise<unknown> =>
    all.call(token, { tool, args, cwd: '/' }, signal).then(value);
  return { all, call };
}

test('open calls are reported in pages that fit a frame, each call once, in order', async () => {
  const { all, call } = calls();
  const answers = Array.from({ length: 10 }, (_, n) => call({ value: 'x'.repeat(6_000_000), n }));
  const seen: string[] = [];
  for (let version = 0; seen.length < 10;) {
    const page = await all.poll({ seen: version }, signal);
    expect(encodeFrame({ id: 1, ok: page }).length).toBeLessThan(MAX_FRAME_BYTES);
    seen.push(...page.calls.map(({ id }) => id));
    version = page.version;
  }
  expect(seen).toEqual(Array.from({ length: 10 }, (_, n) => `e1c${n + 1}`));
  for (const id of seen) all.answer({ id, answer: { callId: id, ok: true, value: id } });
  expect(await Promise.all(answers)).toEqual(seen);
});

test('a cancellation is reported to everyone who has seen the call, after later calls', async () => {
  const { all, call } = calls();
  const script = new AbortController();
  const token = all.issue('d');
  const cut = all.call(token, { tool: 'echo', args: {}, cwd: '/' }, script.signal);
  const { version } = await all.poll({ seen: 0 }, signal);
  void call({});
  script.abort();
  expect(await all.poll({ seen: version }, signal)).toMatchObject({
    calls: [{ id: 'e1c2' }],
    cancelled: [{ id: 'e1c1' }],
  });
  expect(value(await cut)).toBe('call_cancelled');
});

test.each([
  // 10 MB as they came, 42 MB as JavaScript writes them.
  [
    'numbers that grow when they are written again',
    { value: Array(2_000_000).fill(1e20) },
    'echo',
    'arguments_too_large',
  ],
  ['a name of 2,000 characters', {}, 'x'.repeat(2_000), 'invalid_input'],
])('a call that no frame to the worker could carry is refused: %s', async (_what, args, tool, code) => {
  const { all, call } = calls();
  expect(await call(args, tool)).toBe(code);
  expect((await all.poll({ seen: 0 }, AbortSignal.abort())).calls).toEqual([]);
});

test('a worker that asks a new holder for what came after the calls of the one before hears of its first call', async () => {
  const before = calls();
  for (let n = 0; n < 5; n++) void before.call({});
  const { version } = await before.all.poll({ seen: 0 }, signal);
  const next = new ToolCalls(2);
  void next.call(next.issue('c'), { tool: 'echo', args: {}, cwd: '/' }, signal);
  expect((await next.poll({ seen: version }, signal)).calls).toMatchObject([{ id: 'e2c1' }]);
});

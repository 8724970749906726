import type { Message, TurnResult } from '../../../contracts/agents/agent';
import { assertTurn, turnMatchers } from '../../../testing/assert-turn';
import { toolCallsOf } from '../../../testing/calls-of-turn';

const calls = (...all: [tool: string, args: Record<string, unknown>][]): Message => ({
  role: 'assistant',
  text: '',
  parsed: {
    kind: 'calls',
    calls: all.map(([tool, args], index) => ({ callId: `call_${index + 1}`, tool, args })),
    headline: null,
    thoughts: [],
    prose: '',
  },
});
const result = (callId: string, content: string, isError = false): Message => ({
  role: 'tool',
  callId,
  tool: 'x',
  content,
  isError,
});

const turn: TurnResult = {
  answer: 'It is done.',
  reason: 'answered',
  error: null,
  steps: 3,
  sessions: [],
  messages: [
    { role: 'user', text: 'do it' },
    calls(['look', { at: 'a' }], ['look', { at: 'b' }]),
    result('call_1', 'saw a'),
    result('call_2', 'no b', true),
    calls(['write', { file: 'x.txt', lines: [1, 2] }]),
    result('call_1', 'written'),
    { role: 'assistant', text: 'It is done.', parsed: { kind: 'answer', answer: 'It is done.' } },
  ],
};

test('the calls of a turn come in the order of the model’s asking, each with its own result', () => {
  expect(toolCallsOf(turn)).toEqual([
    { tool: 'look', args: { at: 'a' }, content: 'saw a', isError: false },
    { tool: 'look', args: { at: 'b' }, content: 'no b', isError: true },
    { tool: 'write', args: { file: 'x.txt', lines: [1, 2] }, content: 'written', isError: false },
  ]);
});

test('a call that the turn’s end cut off has no result', () => {
  expect(toolCallsOf({ messages: turn.messages.slice(0, 3) })).toMatchObject([
    { content: 'saw a' },
    { content: null, isError: false },
  ]);
});

test('what holds passes, one assertion after the other', () => {
  assertTurn(turn)
    .calledTools(['look', 'look', 'write'])
    .calledTool('write', { lines: [1, 2] })
    .calledTool('write', { file: /\.txt$/ })
    .calledTool('look')
    .endedWith('answered')
    .endedWith('answered', 'It is done.')
    .endedWith('answered', /done/);
});

test.each([
  ['another order', () => assertTurn(turn).calledTools(['write', 'look', 'look']), '[look, look, write]'],
  ['a call left out', () => assertTurn(turn).calledTools(['look', 'write']), '[look, look, write]'],
  ['other arguments', () => assertTurn(turn).calledTool('look', { at: 'c' }), "look { at: 'b' }"],
  ['arguments of another tool', () => assertTurn(turn).calledTool('write', { at: 'a' }), "look { at: 'a' }"],
  ['a tool that was not called', () => assertTurn(turn).calledTool('input'), 'to have called input'],
  ['another end', () => assertTurn(turn).endedWith('stopped'), "answered after 3 steps: 'It is done.'"],
  ['another answer', () => assertTurn(turn).endedWith('answered', 'done'), "'It is done.'"],
])('%s fails and shows what there was', (_what, check, shown) => {
  expect(check).toThrow(shown);
});

test('as a matcher, the message under `not` says what was not wanted', () => {
  const verdict = turnMatchers.toHaveCalledTool(turn, 'look');
  expect(verdict.pass).toBe(true);
  expect(verdict.message()).toMatch(/expected the turn not to have called look/);
});

test('a regular expression matches nothing that is absent, and each text from its beginning', () => {
  expect(() => assertTurn(turn).calledTool('write', { code: /^\w+$/ })).toThrow('to have called write');
  const unanswered: TurnResult = { ...turn, answer: null, reason: 'step_limit' };
  expect(() => assertTurn(unanswered).endedWith('step_limit', /^$/)).toThrow('to have ended as step_limit');
  const all = /x/g;
  assertTurn(turn).calledTool('write', { file: all }).calledTool('write', { file: all });
  assertTurn(turn).calledTool('write', { lines: /1,2/ });
});

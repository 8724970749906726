import type { ParsedReply, ToolCall, VisibleMessage } from '../../../../contracts/agents/agent';
import { createDialects } from '../../../../models/dialects/dialects';
import type { NativeCall } from '../../../../models/provider';

const like = (text: RegExp): string => expect.stringMatching(text) as string;
const native = createDialects()('native');
const parse = (text: string, ...calls: [string, string, string][]): ParsedReply =>
  native.parse({ text, calls: calls.map(([id, tool, args]): NativeCall => ({ id, tool, args })) });
/** As a provider returns them that does not keep to the types. */
const parseAny = (...calls: unknown[]): ParsedReply =>
  native.parse({ text: '', calls: calls as NativeCall[] });

function deep(levels: number): object {
  let value = {};
  for (let level = 0; level < levels; level++) value = { value };
  return value;
}

describe('a reply', () => {
  test('with calls is those calls, with its text as prose', () => {
    expect(parse('<think>hm</think>I look.', ['id_1', 'x', '{"a": [1]}'], ['id_2', 'y', ''])).toEqual({
      kind: 'calls',
      calls: [
        { callId: 'id_1', tool: 'x', args: { a: [1] } },
        { callId: 'id_2', tool: 'y', args: {} },
      ],
      headline: null,
      thoughts: [],
      prose: 'I look.',
    });
  });

  test.each([
    ['missing', '', ''],
    ['the same twice', 'a', 'a'],
    ['none that a provider takes', 'functions.x:0', 'b'],
  ])('whose ids are %s gets names by place', (_name, first, second) => {
    expect(parse('', [first, 'x', '{}'], [second, 'x', '{}'])).toMatchObject({
      calls: [{ callId: 'call_1' }, { callId: 'call_2' }],
    });
  });

  test.each([
    ['missing', undefined],
    ['null', null],
    ['a number', 7],
  ])('whose ids are %s gets names by place', (_name, id) => {
    const reply = parseAny({ id, tool: 'x', args: '{}' }, { id: 'b', tool: 'y', args: '{}' });
    expect(reply).toMatchObject({ calls: [{ callId: 'call_1' }, { callId: 'call_2' }] });
  });

  test.each([
    ['an object', { a: 1 }, { a: 1 }],
    ['null', null, {}],
    ['missing', undefined, {}],
  ])('with arguments that are no text but %s has them', (_name, args, read) => {
    expect(parseAny({ id: 'a', tool: 'x', args })).toMatchObject({ calls: [{ args: read }] });
  });

  test.each([
    ['a number', 5, /Got 5, allowed a JSON object/],
    ['a list', ['a'], /Got \["a"\]/],
    ['an object nested too deep', deep(50_000), /of "x", cannot be used\. Got "\(nested too deep\)"/],
  ])('with arguments that are %s is malformed', (_name, args, problem) => {
    expect(parseAny({ id: 'a', tool: 'x', args })).toMatchObject({
      kind: 'malformed',
      problem: like(problem),
    });
  });

  test.each([
    ['missing', { id: 'a', args: '{}' }],
    ['null', { id: 'a', tool: null, args: '{}' }],
    ['a number', { id: 'a', tool: 7, args: '{}' }],
    ['blank', { id: 'a', tool: ' ', args: '{}' }],
    ['in a call that is null', null],
  ])('whose tool name is %s is malformed and names the call', (_name, call) => {
    expect(parseAny({ id: 'b', tool: 'x', args: '{}' }, call)).toEqual({
      kind: 'malformed',
      problem: 'Call 2 has no tool name.',
    });
  });

  test('without calls is the answer, whatever it looks like', () => {
    expect(parse('<think>hm</think> <tool>[]</tool> ')).toEqual({
      kind: 'answer',
      answer: '<tool>[]</tool>',
    });
  });

  test.each([
    'I changed the parser so that `<think>` blocks are skipped. All 12 tests pass.',
    'I changed the parser so that <think> blocks are skipped. All 12 tests pass.',
    'It drops what is before </think> now. Done.',
    'It reads `<think>`\nand `</think>`\nnow.',
    'Such a reply:\n\n```\n<think>\nhm\n</think>\nYes.\n```\n\nis an answer.',
    'Such a reply:\n\n```\nhm\n</think>\nYes.\n```\n\nis an answer.',
    'Between <think> and\n</think>\nis thinking.',
  ])('that is about thinking is the whole answer: %j', (answer) => {
    expect(parse(answer)).toEqual({ kind: 'answer', answer });
    expect(parse(`<think>hm</think>\n${answer}`)).toEqual({ kind: 'answer', answer });
  });

  test.each([
    ['thinking twice', '<think>a</think>\n<think>b</think>\nYes.'],
    ['thinking whose beginning is missing', 'hm, hm</think>\nYes.'],
    ['thinking whose beginning is missing, on a line of its own', 'hm `x`\n</think>\n\nYes.'],
    ['thinking whose beginning is missing, before the answer on its line', 'hm\n</think> Yes.'],
  ])('with %s is what stands behind it', (_name, text) =>
    expect(parse(text)).toEqual({ kind: 'answer', answer: 'Yes.' }),
  );

  test('with a text like a reference keeps it', () => {
    expect(parse('', ['a', 'x', '{"dir": "$HOME"}'])).toMatchObject({ calls: [{ args: { dir: '$HOME' } }] });
  });

  test.each([
    ['no JSON', '{"a": ', /The arguments of call 2, of "y", cannot be used\. The JSON is invalid/],
    ['a list', '[]', /call 2, of "y".*Got \[\], allowed a JSON object/],
    ['a text', '"{}"', /Got "{}"/],
  ])('with arguments that are %s is malformed and names the call', (_name, args, problem) => {
    expect(parse('Well.', ['a', 'x', '{}'], ['b', 'y', args])).toMatchObject({
      kind: 'malformed',
      problem: like(problem),
    });
  });

  test.each([
    ['nothing', parse('')],
    ['thinking alone', parse('<think>hm')],
    ['a call without a name', parse('', ['a', '', '{}'])],
    [
      'calls that were cut off',
      native.parse({ text: 'x', calls: [{ id: 'a', tool: 'x', args: '{}' }], isCut: true }),
    ],
    ['an answer that was cut off', native.parse({ text: 'x', isCut: true })],
  ])('of %s is malformed', (_name, reply) => expect(reply.kind).toBe('malformed'));
});

const call = (callId: string, repaired?: string): ToolCall => ({
  callId,
  tool: 'x',
  args: { n: 1 },
  ...(repaired !== undefined && { repaired }),
});
const calling = (text: string, ...calls: ToolCall[]): VisibleMessage => ({
  role: 'assistant',
  text,
  parsed: { kind: 'calls', calls, headline: null, thoughts: [], prose: text },
});
const result = (callId: string, content: string, isError = false): VisibleMessage => ({
  role: 'tool',
  callId,
  tool: 'x',
  content,
  isError,
});
const user = (text: string): VisibleMessage => ({ role: 'user', text });
const malformed = (text: string): VisibleMessage => ({
  role: 'assistant',
  text,
  parsed: { kind: 'malformed', problem: 'p' },
});

describe('the conversation that a provider gets', () => {
  test('has each result directly after its call, in order', () => {
    const sent = native.messages([
      user('go'),
      calling('I look.', call('a'), call('b', 'It was mended.')),
      user('hurry'),
      result('b', 'second', true),
      result('a', 'first'),
    ]);
    expect(sent).toEqual([
      { role: 'user', text: 'go' },
      {
        role: 'assistant',
        text: 'I look.',
        calls: [
          { id: 'a', tool: 'x', args: '{"n":1}' },
          { id: 'b', tool: 'x', args: '{"n":1}' },
        ],
      },
      { role: 'tool', callId: 'a', tool: 'x', text: 'first', isError: false },
      { role: 'tool', callId: 'b', tool: 'x', text: 'Note: It was mended.\nsecond', isError: true },
      { role: 'user', text: 'hurry' },
    ]);
  });

  test('has a result for a call whose turn ended before it did', () => {
    const sent = native.messages([calling('', call('a'), call('b')), result('a', 'first'), user('go on')]);
    expect(sent.slice(1)).toMatchObject([
      { role: 'tool', callId: 'a', text: 'first' },
      { role: 'tool', callId: 'b', isError: true, text: like(/not known/) },
      { role: 'user', text: 'go on' },
    ]);
  });

  test('has no calls that could not be used, and no message without text', () => {
    const sent = native.messages([malformed(''), { role: 'repair', text: 'again' }, malformed('Well.')]);
    expect(sent).toEqual([
      { role: 'assistant', text: '(a reply without text)' },
      { role: 'user', text: 'again' },
      { role: 'assistant', text: 'Well.' },
    ]);
  });

  test('has each id once, however often the replies have it', () => {
    const step = [calling('', call('call_1')), result('call_1', 'r')];
    const sent = native.messages([...step, ...step, ...step]);
    expect(sent.flatMap((message) => (message.role === 'tool' ? [message.callId] : []))).toEqual([
      'call_1',
      'call_1_2',
      'call_1_3',
    ]);
    expect(
      sent.flatMap((message) => ('calls' in message ? (message.calls ?? []).map(({ id }) => id) : [])),
    ).toEqual(['call_1', 'call_1_2', 'call_1_3']);
  });

  test('can be sent though a call was recorded with an id that is no text', () => {
    const step = [undefined, null, 7].flatMap((id) => [
      calling('', call(id as unknown as string)),
      result(id as unknown as string, 'r'),
    ]);
    const sent = native.messages(step);
    const ids = sent.flatMap((message) => (message.role === 'tool' ? [message.callId] : []));
    expect(ids).toEqual(['undefined', 'null', '7']);
  });

  test.each([
    ['functions.exec', 'functions_exec'],
    ['look up', 'look_up'],
    ['größe', 'gr__e'],
    ['x'.repeat(70), 'x'.repeat(64)],
    ['', 'unknown'],
  ])('can be sent though a model called a tool "%s" that no provider takes', (tool, name) => {
    const sent = native.messages([
      calling('', { ...call('a'), tool }),
      { role: 'tool', callId: 'a', tool, content: 'r', isError: true },
    ]);
    expect(sent).toMatchObject([
      { role: 'assistant', calls: [{ id: 'a', tool: name }] },
      { role: 'tool', callId: 'a', tool: name },
    ]);
  });

  test('has results without a call, and a summary, as text', () => {
    const sent = native.messages([
      { role: 'summary', text: 'so far', covers: 2 },
      result('a', 'late'),
      user('go'),
    ]);
    expect(sent.map(({ role, text }) => [role, text])).toEqual([
      ['user', 'so far'],
      ['user', 'Result of x:\nlate'],
      ['user', 'go'],
    ]);
  });
});

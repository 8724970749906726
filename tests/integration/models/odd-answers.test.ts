// Answers of compatible servers that are not quite what the protocol defines, over all protocols, streamed or not.
import type { ParsedReply } from '../../../contracts/agents/agent';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import { WIRE_APIS, type WireApi } from '../../../contracts/models/model-names';
import { createDialects } from '../../../models/dialects/dialects';
import type { RawReply } from '../../../models/provider';
import { ask, ModelSimulator, type Answer } from '../../helpers/services/model-simulator';

let simulator: ModelSimulator;
beforeAll(async () => {
  simulator = await ModelSimulator.start();
});
afterAll(() => simulator.stop());
beforeEach(() => {
  simulator.answers.length = 0;
});

const native = createDialects()('native');
const like = (text: RegExp): string => expect.stringMatching(text) as string;

const whole = (body: unknown): Answer => ({ status: 200, body: JSON.stringify(body) });

const TEXT = { 'content-type': 'text/plain' };
const NO_TYPE = { 'content-type': '' };

const streamed = (...events: object[]): Answer => ({
  status: 200,
  headers: { 'content-type': 'text/event-stream' },
  body: events
    .map((event) => `event: ${'type' in event ? String(event.type) : ''}\ndata: ${JSON.stringify(event)}\n\n`)
    .join(''),
});

/** The reply to an answer; with `pieces` to a watched call, whose pieces it gets. */
async function replyTo(wireApi: WireApi, answer: Answer, pieces?: string[]): Promise<RawReply> {
  simulator.answers.push(answer);
  const onText = pieces && ((piece: string): void => void pieces.push(piece));
  return simulator.provider(wireApi).reply(ask('hello', onText && { onText }));
}

const parsed = async (...asked: Parameters<typeof replyTo>): Promise<ParsedReply> =>
  native.parse(await replyTo(...asked));

async function errorTo(...asked: Parameters<typeof replyTo>): Promise<HoldfastError> {
  const err: unknown = await replyTo(...asked).then(
    (reply) => new Error(`it answered: ${JSON.stringify(reply)}`),
    (thrown: unknown) => thrown,
  );
  if (!(err instanceof HoldfastError)) throw err;
  expect(err.message).not.toMatch(/TypeError|Cannot read|is not a function|undefined|\[object/);
  return err;
}

const chat = (message: unknown, more: object = {}): Answer =>
  whole({ choices: [{ index: 0, message, finish_reason: 'stop' }], ...more });
const chatChunk = (delta: object, reason: string | null = null): object => ({
  choices: [{ index: 0, delta, finish_reason: reason }],
});
const response = (output: unknown[], more: object = {}): Answer =>
  whole({ status: 'completed', output, ...more });
const message = (content: unknown[], more: object = {}): Answer =>
  whole({ type: 'message', role: 'assistant', content, stop_reason: 'end_turn', ...more });

interface AnyCall {
  id?: unknown;
  name?: unknown;
  args?: unknown;
}

/** An answer of calls in each protocol; what a call leaves out is missing there, too. */
const CALLING: Record<WireApi, (...calls: AnyCall[]) => Answer> = {
  chat: (...calls) =>
    chat({
      role: 'assistant',
      tool_calls: calls.map(({ id, name, args }) => ({ id, function: { name, arguments: args } })),
    }),
  responses: (...calls) =>
    response(
      calls.map(({ id, name, args }) => ({ type: 'function_call', call_id: id, name, arguments: args })),
    ),
  anthropic: (...calls) =>
    message(calls.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: args }))),
};

describe.each(WIRE_APIS)('over %s', (wireApi) => {
  const calling = CALLING[wireApi];

  test.each([undefined, null, 7])('calls with the id %s run under ids by place', async (id) => {
    const args = { n: 1 };
    const reply = await parsed(wireApi, calling({ id, name: 'x', args }, { id, name: 'y', args }));
    expect(reply).toMatchObject({
      calls: [
        { callId: 'call_1', tool: 'x', args },
        { callId: 'call_2', tool: 'y', args },
      ],
    });
  });

  test.each([undefined, null, 7, ''])('a call with the tool name %j is sent back', async (name) => {
    expect(await parsed(wireApi, calling({ id: 'a', name, args: {} }))).toEqual({
      kind: 'malformed',
      problem: 'Call 1 has no tool name.',
    });
  });

  test('a call without arguments has none; arguments that are no object are sent back', async () => {
    for (const args of [undefined, null])
      expect(await parsed(wireApi, calling({ id: 'a', name: 'x', args }))).toMatchObject({
        calls: [{ args: {} }],
      });
    for (const args of [5, true, ['a']])
      expect(await parsed(wireApi, calling({ id: 'a', name: 'x', args }))).toMatchObject({
        kind: 'malformed',
        problem: like(/The arguments of call 1, of "x", cannot be used/),
      });
  });

  test.each([
    ['texts', '10', '5'],
    ['objects', {}, {}],
    ['negative', -5, 5],
    ['not numbers', 10, null],
    ['larger than any count', 10, 1e300],
    ['fractions', 1.5, 2.5],
  ])('token counts that are %s are as unknown as missing ones', async (_name, input, output) => {
    const [one, other] =
      wireApi === 'chat' ? ['prompt_tokens', 'completion_tokens'] : ['input_tokens', 'output_tokens'];
    const usage = { [one ?? '']: input, [other ?? '']: output };
    const isMissing = output === null && wireApi === 'anthropic';
    const { usage: recorded } = await replyTo(wireApi, ANSWERING[wireApi]('Hi.', { usage }));
    expect(recorded).toEqual(isMissing ? expect.objectContaining({ outputTokens: 0 }) : undefined);
    expect((await replyTo(wireApi, ANSWERING[wireApi]('Hi.', { usage: {} }))).usage).toBeUndefined();
  });

  test.each<[string, unknown, string, boolean, RegExp]>([
    [
      'a rate limit',
      { error: { type: 'rate_limit_error', message: 'Slow down.' } },
      'model_rate_limit',
      true,
      /Slow down\./,
    ],
    [
      'an overload',
      { type: 'error', error: { type: 'overloaded_error', message: 'Busy.' } },
      'model_overloaded',
      true,
      /Busy\./,
    ],
    [
      'a status of its own',
      { error: { code: 429, message: 'Wait.' } },
      'model_rate_limit',
      true,
      /status 429: Wait\./,
    ],
    [
      'a status as text',
      { error: { code: '400', message: 'No.' } },
      'model_bad_request',
      false,
      /status 400: No\./,
    ],
    ['a text', { error: 'The upstream is gone.' }, 'model_overloaded', true, /The upstream is gone\./],
    ['an unknown shape', { error: { detail: 'Odd.' } }, 'model_overloaded', true, /Odd\./],
    ['nothing', null, 'model_failed', false, /the answer is empty; look at base_url and wire_api/],
    ['a list', [1], 'model_failed', false, /begins with "\[1\]", allowed a JSON object/],
  ])('an error with status 200 that is %s is told in its words, watched or not', async (...row) => {
    const [, body, code, retryable, text] = row;
    for (const pieces of [undefined, []])
      expect(await errorTo(wireApi, whole(body), pieces)).toMatchObject({
        code,
        retryable,
        message: like(text),
      });
  });

  test.each<[string, Answer, RegExp]>([
    ['no content', { status: 204, body: '' }, /empty/],
    ['no body', { status: 200, body: '' }, /empty|not valid JSON/],
    ['half a body', { status: 200, body: '{"choices": [' }, /not valid JSON|begins with/],
    ['a text', { status: 200, headers: TEXT, body: 'Ollama is running' }, /begins with "Ollama is running"/],
    [
      'no type',
      { status: 200, headers: NO_TYPE, body: 'Ollama is running' },
      /begins with "Ollama is running"/,
    ],
    ['a page', { status: 200, headers: { 'content-type': 'text/html' }, body: '<h1>Log in</h1>' }, /Log in/],
  ])('an answer of %s ends the call with its reason, watched or not', async (_name, answer, text) => {
    for (const pieces of [undefined, []])
      expect(await errorTo(wireApi, answer, pieces)).toMatchObject({
        code: 'model_failed',
        message: like(text),
      });
  });

  test.each([{}, { headers: TEXT }])('a whole answer in place of a stream counts', async (headers) => {
    const answer = { ...ANSWERING[wireApi]('Hi.', {}), ...headers };
    expect(await replyTo(wireApi, answer, [])).toMatchObject({ text: 'Hi.' });
  });
});

const ANSWERING: Record<WireApi, (text: string, more: object) => Answer> = {
  chat: (content, more) => chat({ role: 'assistant', content }, more),
  responses: (text, more) => response([{ type: 'message', content: [{ type: 'output_text', text }] }], more),
  anthropic: (text, more) => message([{ type: 'text', text }], more),
};

test.each([
  ['larger than the input', 50, 10],
  ['no count', '5', 0],
])('cached tokens that are %s spoil neither count nor cost', async (_name, cached, counted) => {
  const usage = { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: cached } };
  const reply = await replyTo('chat', ANSWERING.chat('Hi.', { usage }));
  expect(reply.usage).toMatchObject({ inputTokens: 10, outputTokens: 5, cachedTokens: counted });
});

describe('only text is text', () => {
  const TEXTS: [string, WireApi, Answer, string][] = [
    [
      'parts',
      'chat',
      chat({
        content: [
          { type: 'text', text: 'Hello,' },
          { type: 'text', text: ' you.' },
        ],
      }),
      'Hello, you.',
    ],
    [
      'parts of thinking',
      'chat',
      chat({
        content: [
          { type: 'thinking', thinking: [] },
          { type: 'text', text: 'A' },
        ],
      }),
      'A',
    ],
    ['a number', 'chat', chat({ content: 42 }), ''],
    ['an unknown part', 'responses', response([{ type: 'message', content: [{ type: 'odd' }] }]), ''],
    [
      'a part without text',
      'responses',
      response([{ type: 'message', content: [{ type: 'output_text' }] }]),
      '',
    ],
    ['no content', 'responses', response([{ type: 'message' }, null]), ''],
    ['a part without text', 'anthropic', message([{ type: 'text' }, null, 5]), ''],
  ];
  test.each(TEXTS)('of %s over %s', async (_name, wireApi, answer, text) => {
    expect((await replyTo(wireApi, answer)).text).toBe(text);
  });

  test('of pieces, too', async () => {
    const pieces: string[] = [];
    const content = [undefined, { a: 1 }, 5, [{ type: 'text', text: 'Hello' }], '.'];
    const chunks = content.map((piece) => chatChunk({ content: piece }));
    const reply = await replyTo('chat', streamed(...chunks, chatChunk({}, 'stop')), pieces);
    expect([pieces, reply.text]).toEqual([['Hello', '.'], 'Hello.']);
    const deltas = content.map((delta) => ({ type: 'response.output_text.delta', delta }));
    const end = { type: 'response.completed', response: { status: 'completed', output: [] } };
    await replyTo('responses', streamed(...deltas, end), pieces);
    const blocks = content.map((text) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text },
    }));
    const start = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } };
    const stop = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } };
    expect(await replyTo('anthropic', streamed(start, ...blocks, stop), pieces)).toMatchObject({ text: '.' });
    expect(pieces).toEqual(['Hello', '.', '.', '.']);
  });
});

test.each(['cancelled', 'queued', 'in_progress', 7])(
  'a response with the status %j is no answer',
  async (status) => {
    const output = [{ type: 'message', content: [{ type: 'output_text', text: 'Partial' }] }];
    const err = await errorTo('responses', response(output, { status }));
    expect(err).toMatchObject({ code: 'model_failed', message: like(/got a response with the status/) });
    expect((await errorTo('responses', response([], { status: 'failed' }))).code).toBe('model_overloaded');
  },
);

test('a reply that Anthropic paused is no answer', async () => {
  const answer = message([{ type: 'text', text: 'Let me' }], { stop_reason: 'pause_turn' });
  expect(await errorTo('anthropic', answer)).toMatchObject({
    code: 'model_failed',
    message: like(/pause_turn/),
  });
});

const toolUse = (...pieces: unknown[]): Answer =>
  streamed(
    { type: 'message_start', message: { content: [], usage: { input_tokens: 3 } } },
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'tool_use', id: 'a', name: 'x', input: {} },
    },
    ...pieces.map((partial_json) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'input_json_delta', partial_json },
    })),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 4 } },
    { type: 'message_stop' },
  );

test('a streamed input that is cut off is sent back, not completed by guessing', async () => {
  expect(await parsed('anthropic', toolUse('{"cmd": "echo', ' X >> F"'), [])).toMatchObject({
    kind: 'malformed',
    problem: like(/of "x", cannot be used. The JSON is invalid/),
  });
});

test('a streamed input that is complete arrives, and so does none', async () => {
  expect(await parsed('anthropic', toolUse('{"cmd": ', '"ls"}'), [])).toMatchObject({
    calls: [{ callId: 'a', tool: 'x', args: { cmd: 'ls' } }],
  });
  expect(await parsed('anthropic', toolUse('', null), [])).toMatchObject({ calls: [{ args: {} }] });
  const { usage } = await replyTo('anthropic', toolUse(), []);
  expect(usage).toMatchObject({ inputTokens: 3, outputTokens: 4 });
});

test('a stream under another type is read to its end', async () => {
  const text = chatChunk({ content: 'Hi' });
  const whole = { ...streamed(text, chatChunk({ content: '.' }, 'stop')), headers: TEXT };
  const pieces: string[] = [];
  expect([(await replyTo('chat', whole, pieces)).text, pieces]).toEqual(['Hi.', ['Hi', '.']]);
  const cut = { ...streamed(chatChunk({ content: 'Hi' })), headers: TEXT };
  simulator.answers.push({ ...cut, body: cut.body.trimEnd() });
  await expect(
    simulator.provider('chat').reply(ask('hello', { onText: () => undefined })),
  ).rejects.toMatchObject({ code: 'model_unreachable' });
  // Nothing but comments came: that is no wrong address.
  expect((await errorTo('chat', { status: 200, headers: TEXT, body: '' }, [])).code).toBe(
    'model_unreachable',
  );
  simulator.answers.push({ status: 200, headers: TEXT, body: ': ping\n\n' });
  expect(await replyTo('chat', ANSWERING.chat('Hi.', {}), [])).toMatchObject({ text: 'Hi.' });
});

describe('streamed calls over chat', () => {
  const calls = (...deltas: object[]): Promise<ParsedReply> =>
    parsed(
      'chat',
      streamed(...deltas.map((delta) => chatChunk({ tool_calls: [delta] })), chatChunk({}, 'tool_calls')),
      [],
    );
  const A = { callId: 'a', tool: 'x', args: { n: 1 } };
  const B = { callId: 'b', tool: 'y', args: { n: 2 } };

  test('need neither a role nor an index nor a type', async () => {
    const reply = await calls(
      { id: 'a', function: { name: 'x', arguments: '{"n"' } },
      { function: { arguments: ': 1}' } },
      { id: 'b', function: { name: 'y', arguments: '{"n": 2}' } },
    );
    expect(reply).toMatchObject({ calls: [A, B] });
  });

  test('are told apart by their index, and by their id if all have the same', async () => {
    const mixed = await calls(
      { index: 0, id: 'a', function: { name: 'x', arguments: '{"n"' } },
      { index: 1, id: 'b', function: { name: 'y', arguments: '{"n"' } },
      { index: 0, id: 'a', function: { name: 'x', arguments: ':1}' } },
      { index: 1, function: { arguments: ':2}' } },
    );
    expect(mixed).toMatchObject({ calls: [A, B] });
    const same = await calls(
      { index: 0, id: 'a', function: { name: 'x', arguments: { n: 1 } } },
      { index: 0, id: 'b', function: { name: 'y', arguments: { n: 2 } } },
    );
    expect(same).toMatchObject({ calls: [A, B] });
  });

  test('that are cut off are sent back', async () => {
    expect(await calls({ id: 'a', function: { name: 'x', arguments: '{"n": 1' } })).toMatchObject({
      kind: 'malformed',
    });
  });
});

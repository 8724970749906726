// What servers refuse of a request or a conversation, as their users have reported it.
import { createDialects } from '../../../models/dialects/dialects';
import type { ChatMessage } from '../../../models/provider';
import { ask, ModelSimulator, type Answer } from '../../helpers/services/model-simulator';

let simulator: ModelSimulator;
beforeAll(async () => {
  simulator = await ModelSimulator.start();
});
afterAll(() => simulator.stop());
beforeEach(() => {
  simulator.requests.length = 0;
  simulator.answers.length = 0;
});

const refuses = (message: string, status = 400): Answer => ({
  status,
  body: JSON.stringify({ error: { message } }),
});
const DONE: Answer = {
  status: 200,
  body: JSON.stringify({
    choices: [{ message: { role: 'assistant', content: 'Done.' }, finish_reason: 'stop' }],
  }),
};
const chunk = (delta: object, reason: string | null): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
const STREAMED: Answer = {
  status: 200,
  headers: { 'content-type': 'text/event-stream' },
  body: `${chunk({ content: 'Done.' }, 'stop')}data: [DONE]\n\n`,
};

type Sent = { role: string; content: unknown; tool_calls?: Record<string, unknown>[] } & Record<
  string,
  unknown
>;
const sent = (index = -1): Sent[] => simulator.requests.at(index)?.body.messages as Sent[];

const STEP: ChatMessage[] = [
  { role: 'user', text: 'Look.' },
  { role: 'assistant', text: '', calls: [{ id: 'a', tool: 'list_dir', args: '{}' }] },
  { role: 'tool', callId: 'a', tool: 'list_dir', text: '', isError: false },
];
const watched = { onText: () => undefined };

// openai/openai-agents-python#442, and servers that say it as FastAPI does, without an error of that name.
test.each([
  refuses('stream_options: Extra inputs are not permitted', 422),
  { status: 422, body: '{"detail":[{"loc":["body","stream_options"],"msg":"extra fields not permitted"}]}' },
])('a server without stream_options is asked without it, and from then on at once', async (refused) => {
  const provider = simulator.provider('chat');
  simulator.answers.push(refused, STREAMED, STREAMED);
  expect((await provider.reply(ask('hello', watched))).text).toBe('Done.');
  await provider.reply(ask('hello', watched));
  expect(simulator.requests.map(({ body }) => 'stream_options' in body)).toEqual([true, false, false]);
});

test('a fault that is the whole body of an answer is told in its words', async () => {
  simulator.answers.push({ status: 422, body: '{"detail":[{"loc":["body","top"],"msg":"no such thing"}]}' });
  await expect(simulator.provider('chat').reply(ask('hello'))).rejects.toMatchObject({
    code: 'model_bad_request',
    message: expect.stringContaining('no such thing') as string,
  });
});

// NousResearch/hermes-agent#31583: text content blocks must be non-empty.
test('a call without text, and a result without text, are sent without an empty text', async () => {
  simulator.answers.push(DONE);
  await simulator.provider('chat').reply(ask('', { messages: STEP }));
  expect(sent().slice(2)).toMatchObject([{ content: null }, { role: 'tool', content: '(no output)' }]);
});

test('a server that wants a text beside calls gets an empty one', async () => {
  simulator.answers.push(refuses('messages[2].content: expected string, got null'), DONE);
  await simulator.provider('chat').reply(ask('', { messages: STEP }));
  expect(sent()[2]).toMatchObject({ content: '' });
});

// aaif-goose/goose#5998, mistralai/mistral-common#169
test("a user's words behind a result come after a reply where the server wants that", async () => {
  const provider = simulator.provider('chat');
  const messages = [...STEP, { role: 'user' as const, text: 'Stop.' }];
  simulator.answers.push(refuses("Unexpected role 'user' after role 'tool'"), DONE, DONE);
  await provider.reply(ask('', { messages }));
  await provider.reply(ask('', { messages }));
  expect(simulator.requests).toHaveLength(3);
  for (const index of [1, 2])
    expect(sent(index).map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
    ]);
});

test('a server that knows only max_tokens gets the limit under that name', async () => {
  const provider = simulator.provider('chat', {}, { maxOutputTokens: 9 });
  simulator.answers.push(refuses('Unsupported parameter: max_completion_tokens'), DONE);
  await provider.reply(ask('hello'));
  expect(simulator.lastBody).toMatchObject({ max_tokens: 9 });
});

describe("what a provider sent with a reply's calls goes back to it", () => {
  const native = createDialects()('native');

  /** The messages of the request after a reply. */
  async function next(answer: Answer, isWatched: boolean): Promise<Sent> {
    const provider = simulator.provider('chat');
    simulator.answers.push(answer, DONE);
    const { extras, ...raw } = await provider.reply(ask('Look.', isWatched ? watched : {}));
    const parsed = native.parse(raw);
    const messages = native.messages([
      { role: 'user', text: 'Look.' },
      { role: 'assistant', parsed, ...(extras && { extras: { provider: 'sim', data: extras } }) },
    ]);
    await provider.reply(ask('', { messages }));
    return sent()[2] as Sent;
  }
  const whole = (message: object): Answer => ({
    status: 200,
    body: JSON.stringify({ choices: [{ message, finish_reason: 'tool_calls' }] }),
  });
  const call = { id: 'a', type: 'function', function: { name: 'list_dir', arguments: '{}' } };

  // QwenLM/qwen-code#3578
  test.each([true, false])('its reasoning, streamed: %s', async (isWatched) => {
    const answer = isWatched
      ? {
          ...STREAMED,
          body:
            chunk({ reasoning_content: 'I should ' }, null) +
            chunk({ reasoning_content: 'look.', content: null }, null) +
            chunk({ tool_calls: [{ index: 0, ...call }] }, 'tool_calls'),
        }
      : whole({ content: '', reasoning_content: 'I should look.', tool_calls: [call], annotations: [] });
    const back = await next(answer, isWatched);
    expect(back).toMatchObject({ reasoning_content: 'I should look.', content: null });
    expect(Object.keys(back).sort()).toEqual(['content', 'reasoning_content', 'role', 'tool_calls']);
  });

  // OpenRouterTeam/ai-sdk-provider: reasoning_details come in pieces, by index and type.
  test('lists of its own, put together from pieces', async () => {
    const piece = (more: object): string =>
      chunk({ reasoning_details: [{ type: 'reasoning.text', index: 0, format: 'f', ...more }] }, null);
    const body =
      piece({ text: 'I ' }) +
      piece({ text: 'look.' }) +
      piece({ signature: 'c2ln' }) +
      chunk({ tool_calls: [{ index: 0, ...call }] }, 'tool_calls');
    expect((await next({ ...STREAMED, body }, true)).reasoning_details).toEqual([
      { type: 'reasoning.text', index: 0, format: 'f', text: 'I look.', signature: 'c2ln' },
    ]);
  });

  // securo-finance/securo#884, and BerriAI/litellm, which puts the signature into the id.
  test.each([true, false])('a signature in a call, or in its id, streamed: %s', async (isWatched) => {
    const signed = {
      ...call,
      id: `call_1__thought__${'x'.repeat(200)}`,
      extra_content: { google: { s: 'c2ln' } },
    };
    const answer = isWatched
      ? { ...STREAMED, body: chunk({ tool_calls: [{ index: 0, ...signed }] }, 'tool_calls') }
      : whole({ content: null, tool_calls: [signed] });
    const back = await next(answer, isWatched);
    expect(back.tool_calls).toEqual([signed]);
    expect(sent()[3]).toMatchObject({ role: 'tool', tool_call_id: signed.id });
  });

  test('and is left out where the server refuses it, from then on at once', async () => {
    const provider = simulator.provider('chat');
    const extras = { wireApi: 'chat', message: { reasoning_content: 'Hm.' } };
    const messages = STEP.map((message) => (message.role === 'assistant' ? { ...message, extras } : message));
    simulator.answers.push(refuses("property 'reasoning_content' is unsupported"), DONE, DONE);
    await provider.reply(ask('', { messages }));
    await provider.reply(ask('', { messages }));
    expect(simulator.requests.map((_, index) => 'reasoning_content' in (sent(index)[2] as Sent))).toEqual([
      true,
      false,
      false,
    ]);
  });

  test('thinking goes back to Anthropic before the calls, and to no other protocol', async () => {
    const thinking = { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' };
    const content = [thinking, { type: 'tool_use', id: 'a', name: 'list_dir', input: {} }];
    simulator.answers.push({ status: 200, body: JSON.stringify({ content, stop_reason: 'tool_use' }) });
    const provider = simulator.provider('anthropic');
    const { extras, calls } = await provider.reply(ask('Look.'));
    const messages: ChatMessage[] = [
      { role: 'user', text: 'Look.' },
      { role: 'assistant', text: '', ...(calls && { calls }), ...(extras && { extras }) },
    ];
    simulator.answers.push({ status: 200, body: JSON.stringify({ content: [], stop_reason: 'end_turn' }) });
    await provider.reply(ask('', { messages }));
    expect(sent()[1]?.content).toEqual([thinking, expect.objectContaining({ type: 'tool_use' })]);
    simulator.answers.push(DONE);
    await simulator.provider('chat').reply(ask('', { messages }));
    expect(JSON.stringify(sent())).not.toContain('c2ln');
  });
});

test.each(['chat', 'responses', 'anthropic'] as const)(
  'a conversation that a server refuses for its calls goes on with them in words: %s',
  async (wireApi) => {
    const messages: ChatMessage[] = [...STEP, { role: 'user', text: 'And now?' }];
    simulator.answers.push(refuses('Function call is missing a thought_signature in functionCall parts.'));
    simulator.mock.onMessage(/And now/, { content: 'Done.' });
    expect((await simulator.provider(wireApi).reply(ask('', { messages }))).text).toBe('Done.');
    expect(simulator.requests).toHaveLength(2);
    const body = JSON.stringify(simulator.lastBody);
    expect(body).not.toMatch(/tool_call_id|function_call|tool_use/);
    expect(body).toMatch(/I called the tool list_dir.*Result of list_dir:.*And now\?/);
  },
);

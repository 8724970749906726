// More of what servers with OpenAI's API send and refuse, each from a public report.
import type { ParsedReply } from '../../../contracts/agents/agent';
import { createDialects } from '../../../models/dialects/dialects';
import { parsedReply } from '../../../models/parsed-reply';
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

const native = createDialects()('native');
const chunk = (delta: object, reason: unknown = null, more: object = {}): object => ({
  choices: [{ index: 0, delta, finish_reason: reason }],
  ...more,
});
const streamed = (...events: object[]): Answer => ({
  status: 200,
  headers: { 'content-type': 'text/event-stream' },
  body: `: PROCESSING\n\n${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')}data: [DONE]\n\n`,
});
const whole = (message: object, reason: string): Answer => ({
  status: 200,
  body: JSON.stringify({ choices: [{ index: 0, message, finish_reason: reason }] }),
});
async function reply(answer: Answer, isWatched = true): Promise<ParsedReply> {
  simulator.answers.push(answer);
  const watched = isWatched ? { onText: () => undefined } : {};
  const raw = await simulator.provider('chat').reply(ask('hello', watched));
  return parsedReply(raw, native, { tools: [{ name: 'read' }], isJson: false });
}
const piece = (call: object): object => chunk({ role: null, content: null, tool_calls: [call] });
const READ = (path: string): object => ({ tool: 'read', args: { path } });
const args = (path: string): string => JSON.stringify({ path });

test.each<[string, object[]]>([
  [
    'ollama/ollama#7881: calls without an index',
    [
      { id: 'a', function: { name: 'read', arguments: args('a') } },
      { id: 'b', function: { name: 'read', arguments: args('b') } },
    ],
  ],
  [
    'ollama/ollama#15457: every call has the index 0',
    [
      { index: 0, id: 'a', function: { name: 'read', arguments: args('a') } },
      { index: 0, id: 'b', function: { name: 'read', arguments: args('b') } },
    ],
  ],
  [
    'BerriAI/litellm#33678: and none has an id',
    [
      { index: 0, function: { name: 'read', arguments: args('a') } },
      { index: 0, function: { name: 'read', arguments: args('b') } },
    ],
  ],
  [
    'continuedev/continue#13235: pieces with an index and no id',
    [
      { index: 0, function: { name: 'read', arguments: '' } },
      { index: 0, function: { arguments: args('a') } },
      { index: 1, function: { name: 'read', arguments: '{"path"' } },
      { index: 1, function: { arguments: ':"b"}' } },
    ],
  ],
  [
    'vercel/ai#15879: arguments before the name, by id alone',
    [
      { id: 'a', function: { arguments: '{"path":' } },
      { id: 'a', function: { name: 'read', arguments: '"a"}' } },
      { id: 'b', function: { arguments: '{"path":' } },
      { id: 'b', function: { name: 'read', arguments: '"b"}' } },
    ],
  ],
])('%s', async (_report, calls) => {
  const events = [...calls.map(piece), chunk({}, 'tool_calls')];
  expect(await reply(streamed(...events))).toMatchObject({ kind: 'calls', calls: [READ('a'), READ('b')] });
});

// microsoft/autogen#4878: Gemini ends with "stop", and its call has an empty id.
test('a call counts although the reply says that it stopped', async () => {
  const call = { id: '', type: 'function', function: { name: 'read', arguments: args('a') } };
  expect(await reply(whole({ content: null, tool_calls: [call] }, 'stop'), false)).toMatchObject({
    calls: [{ callId: 'call_1', ...READ('a') }],
  });
});

// langchain-ai/langgraph#6574, NousResearch/hermes-agent#83886: nothing was said, and nothing was counted. Asked for again
// without a word about it, the model would fail again.
test.each([
  'MALFORMED_FUNCTION_CALL',
  'function_call_filter: MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
])('a reply that a server discards as %s is sent back with that reason', async (reason) => {
  for (const isWatched of [true, false]) {
    const answer = isWatched ? streamed(chunk({ content: '' }, reason)) : whole({ content: '' }, reason);
    expect(await reply(answer, isWatched)).toMatchObject({
      kind: 'malformed',
      problem: expect.stringContaining(reason) as string,
    });
  }
});

// diegosouzapw/OmniRoute#8210, damianvtran/local-operator#223: OpenRouter's failures come after status 200.
test.each([
  [{ error: { code: 502, message: 'Worker limit reached' }, choices: [] }],
  [chunk({ content: '' }, 'error', { error: { code: 502, message: 'Worker limit reached' } })],
])('an error in a chunk is no empty answer', async (event) => {
  await expect(reply(streamed(chunk({ content: 'I' }), event))).rejects.toMatchObject({
    code: 'model_overloaded',
    message: expect.stringContaining('Worker limit reached') as string,
  });
});

// ollama/ollama#4357, Mintplex-Labs/anything-llm#5113, lemonade-sdk/lemonade#350
test('an empty reason in each chunk, a role that is null and a last chunk without a choice end no answer early', async () => {
  const usage = { prompt_tokens: 3, completion_tokens: 2 };
  const events = [
    chunk({ role: null, content: 'He', tool_calls: null }, ''),
    chunk({ content: 'y.' }, ''),
    chunk({}, 'stop'),
  ];
  simulator.answers.push(streamed(...events, { choices: [], usage }));
  const raw = await simulator.provider('chat').reply(ask('hello', { onText: () => undefined }));
  expect(raw).toMatchObject({ text: 'Hey.', usage: { inputTokens: 3, outputTokens: 2 } });
});

// lmstudio-ai/lmstudio-bug-tracker#378
test('a reply of reasoning alone is no answer', async () => {
  expect(await reply(streamed(chunk({ reasoning_content: 'Hm.' }), chunk({}, 'stop')))).toMatchObject({
    kind: 'malformed',
  });
});

// sgl-project/sglang#40236, vllm-project/vllm#48931, lsdefine/GenericAgent#804
test.each([
  '<｜DSML｜tool_calls> <｜DSML｜invoke name="read"> </｜DSML｜invoke>',
  '<｜DSML｜invoke name="read">\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>',
  '<‖DSML‖tool_calls>\n<‖DSML‖invoke name="read">',
  'I read.<｜｜DSML｜｜tool_calls>',
])("DeepSeek's calls that a server leaves in the text are no answer: %s", async (content) => {
  expect(await reply(streamed(chunk({ content }), chunk({}, 'stop')))).toMatchObject({ kind: 'malformed' });
});

// anomalyco/opencode#1680, nearai/ironclaw#1241: Mistral takes ids of nine letters and digits.
test('ids are short where the server wants that, the same for a call and its result, and from then on at once', async () => {
  const messages: ChatMessage[] = [
    { role: 'user', text: 'Look.' },
    {
      role: 'assistant',
      text: '',
      calls: ['call_1', 'Ab3dE6gH9'].map((id) => ({ id, tool: 'read', args: '{}' })),
    },
    { role: 'tool', callId: 'call_1', tool: 'read', text: 'a', isError: false },
    { role: 'tool', callId: 'Ab3dE6gH9', tool: 'read', text: 'b', isError: false },
  ];
  const message = 'Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.';
  simulator.answers.push({ status: 400, body: JSON.stringify({ object: 'error', message }) });
  simulator.answers.push(whole({ content: 'Done.' }, 'stop'), whole({ content: 'Done.' }, 'stop'));
  const provider = simulator.provider('chat');
  await provider.reply(ask('', { messages }));
  await provider.reply(ask('', { messages }));
  expect(simulator.requests).toHaveLength(3);
  for (const { body } of simulator.requests.slice(1)) {
    const sent = body.messages as { tool_calls?: { id: string }[]; tool_call_id?: string }[];
    const ids = sent.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id));
    expect(ids).toEqual([expect.stringMatching(/^[a-zA-Z0-9]{9}$/), 'Ab3dE6gH9']);
    expect(sent.flatMap(({ tool_call_id: id }) => id ?? [])).toEqual(ids);
  }
});

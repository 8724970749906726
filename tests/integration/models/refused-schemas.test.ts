// Schemas of answers and of tools that a server does not take.
import { ask, ModelSimulator, type Answer } from '../../helpers/services/model-simulator';

let simulator: ModelSimulator;
beforeAll(async () => {
  simulator = await ModelSimulator.start();
  simulator.mock.onMessage('hello', { content: 'Hello, you.' });
});
afterAll(() => simulator.stop());
beforeEach(() => {
  simulator.requests.length = 0;
});

const LIST = { type: 'array', items: { type: 'string' } };
const asked = { tools: [], outputSchema: LIST };
const hasFormat = (): boolean[] =>
  simulator.requests.map(({ body }) => 'response_format' in body || 'format' in Object(body.text));
const refuses = (message: string): Answer => ({ status: 400, body: JSON.stringify({ error: { message } }) });

test.each(['chat', 'responses'] as const)(
  'a server that refuses the schema of an answer is asked without it, and from then on at once: %s',
  async (wireApi) => {
    const provider = simulator.provider(wireApi);
    simulator.answers.push(refuses('Invalid schema for response_format: got "array", allowed "object".'));
    expect((await provider.reply(ask('hello', asked))).text).toBe('Hello, you.');
    expect((await provider.reply(ask('hello', asked))).text).toBe('Hello, you.');
    await provider.reply(ask('hello', { ...asked, outputSchema: { type: 'object' } }));
    expect(hasFormat()).toEqual([true, false, false, true]);
  },
);

test('a request that a server refuses without the schema, too, fails with what it says then', async () => {
  const provider = simulator.provider('chat');
  simulator.answers.push(refuses('The first.'), refuses('The second.'));
  await expect(provider.reply(ask('hello', asked))).rejects.toMatchObject({
    code: 'model_bad_request',
    message: expect.stringContaining('The second.') as string,
  });
  // It was not the schema: the next request has it again.
  simulator.requests.length = 0;
  await provider.reply(ask('hello', asked));
  expect(hasFormat()).toEqual([true]);
});

test.each([
  ['a reply that went wrong', refuses('Failed to validate JSON.')],
  [
    'a stream that broke',
    {
      status: 200,
      headers: { 'content-type': 'text/event-stream' },
      body: 'data: {"error":{"code":400,"message":"Invalid schema."}}\n\n',
    },
  ],
])('after %s the next request has the schema again', async (_, answer) => {
  const provider = simulator.provider('chat');
  simulator.answers.push(answer);
  await provider.reply(ask('hello', { ...asked, onText: () => undefined })).catch(() => undefined);
  await provider.reply(ask('hello', asked));
  expect(hasFormat().at(-1)).toBe(true);
});

test.each(['a list', 'an object'])('nothing is repeated where no schema was sent: of %s', async (kind) => {
  const provider = simulator.provider('anthropic');
  const outputSchema = kind === 'a list' ? LIST : { type: 'object' };
  simulator.answers.push(refuses('No such thing.'));
  await expect(provider.reply(ask('hello', { tools: [], outputSchema }))).rejects.toThrow('No such thing.');
  expect(simulator.requests).toHaveLength(1);
});

test.each(['chat', 'responses', 'anthropic'] as const)(
  'a tool whose schema the vendors refuse is offered with one that they take: %s',
  async (wireApi) => {
    const parameters = {
      oneOf: [{ type: 'object' as const, properties: { at: { type: 'array' as const } } }],
    };
    const tool = {
      ...{ name: 'look', description: 'Looks.', parameters, result: null },
      ...{ effects: 'read_only' as const, runsOn: 'anywhere' as const },
    };
    await simulator.provider(wireApi).reply(ask('hello', { tools: [tool] }));
    const [told] = (simulator.lastBody as { tools: Record<string, { parameters?: unknown } | undefined>[] })
      .tools;
    const sent = told?.input_schema ?? told?.parameters ?? told?.function?.parameters;
    expect(sent).toMatchObject({ type: 'object', properties: { at: { type: 'array', items: {} } } });
    expect(sent).not.toHaveProperty('oneOf');
  },
);

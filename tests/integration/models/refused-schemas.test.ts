// Schemas of answers that a server does not take.
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

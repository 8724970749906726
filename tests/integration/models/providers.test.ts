// The providers over HTTP against a third-party simulator.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { WIRE_APIS } from '../../../contracts/models/model-names';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import type { ToolDescription } from '../../../contracts/tools/tools';
import { HTTP_PROVIDERS } from '../../../models/model-settings';
import type { ModelProvider, ModelRequest } from '../../../models/provider';
import { freePort } from '../../helpers/free-port';
import { ask, KEY_VARIABLE, ModelSimulator, PLANTED_KEY } from '../../helpers/services/model-simulator';

let simulator: ModelSimulator;
beforeAll(async () => {
  simulator = await ModelSimulator.start();
  const { mock } = simulator;
  mock.onMessage('hello', { content: 'Hello, you.' }, { chunkSize: 4 });
  mock.onMessage('long', { content: 'The beginning of', finishReason: 'length' });
  mock.onMessage('think', { content: 'Forty-two.', reasoning: 'Let me multiply.' });
  mock.onMessage(
    'cut',
    { content: 'This is cut in the midst.' },
    { chunkSize: 4, truncateAfterChunks: 4, latency: 5 },
  );
  mock.onMessage('look twice', {
    content: 'I look.',
    toolCalls: [
      { id: 'call_a', name: 'look', arguments: '{"at":1}' },
      { id: 'call_b', name: 'look', arguments: '{"at":2}' },
    ],
  });
});
afterAll(() => simulator.stop());

const LOOK: ToolDescription = {
  name: 'look',
  description: 'Looks.',
  parameters: { type: 'object', properties: { at: { type: 'number' } }, required: ['at'] },
  result: null,
  effects: 'read_only',
  runsOn: 'anywhere',
};

async function errorOf(provider: ModelProvider, request: ModelRequest): Promise<HoldfastError> {
  const err: unknown = await provider.reply(request).then(
    (reply) => new Error(`it answered: ${reply.text}`),
    (thrown: unknown) => thrown,
  );
  if (!(err instanceof HoldfastError)) throw err;
  expect(JSON.stringify(err)).not.toMatch(/sk-pl|c3d4e5|zyxwv/);
  return err;
}

describe.each(WIRE_APIS)('over %s', (wireApi) => {
  test('an answer arrives as text, in pieces to watchers, and without watchers no stream is requested', async () => {
    const provider = simulator.provider(wireApi);
    expect(await provider.reply(ask('hello'))).toMatchObject({ text: 'Hello, you.' });
    expect(simulator.lastBody).not.toMatchObject({ stream: true });
    const pieces: string[] = [];
    const reply = await provider.reply(ask('hello', { onText: (piece) => pieces.push(piece) }));
    expect(simulator.lastBody).toMatchObject({ stream: true });
    expect(pieces.length).toBeGreaterThan(1);
    expect([pieces.join(''), reply.text]).toEqual(['Hello, you.', 'Hello, you.']);
  });

  test('calls arrive with the text beside them, streamed or not, and go back with their results in order', async () => {
    const provider = simulator.provider(wireApi);
    const request = ask('look twice', { tools: [LOOK] });
    const calls = [
      { id: 'call_a', tool: 'look', args: '{"at":1}' },
      { id: 'call_b', tool: 'look', args: '{"at":2}' },
    ];
    const onText = (): void => undefined;
    expect(await provider.reply(request)).toMatchObject({ text: 'I look.', calls });
    expect(await provider.reply({ ...request, onText })).toMatchObject({ text: 'I look.', calls });
    await provider.reply(
      ask('', {
        tools: [LOOK],
        messages: [
          ...request.messages,
          { role: 'assistant', text: 'I look.', calls },
          { role: 'tool', callId: 'call_b', tool: 'look', text: 'nothing', isError: true },
          { role: 'user', text: 'hello' },
        ],
      }),
    );
    const lost = expect.stringContaining('No result was recorded') as string;
    expect(simulator.lastBody).toMatchObject(SENT_CALLS[wireApi](lost));
  });

  test('a reply at its length limit is marked as cut', async () => {
    expect(await simulator.provider(wireApi).reply(ask('long'))).toMatchObject({
      text: 'The beginning of',
      isCut: true,
    });
  });

  test('the model’s reasoning is not part of its answer', async () => {
    const pieces: string[] = [];
    const provider = simulator.provider(wireApi);
    expect(await provider.reply(ask('think'))).toMatchObject({ text: 'Forty-two.' });
    await provider.reply(ask('think', { onText: (piece) => pieces.push(piece) }));
    expect(pieces.join('')).toBe('Forty-two.');
  });

  test('a stream that is cut or falls silent, a timeout and a closed port are model_unreachable, asked once', async () => {
    const onText = (): void => undefined;
    const before = simulator.requests.length;
    expect(await errorOf(simulator.provider(wireApi), ask('cut', { onText }))).toMatchObject({
      code: 'model_unreachable',
      retryable: true,
    });
    expect(simulator.requests.length).toBe(before + 1);
    // A server of its own: a request that ends before it arrives leaves nothing to the other tests.
    const silent = createServer((_, outgoing) => {
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' }).write(': nothing\n\n');
    });
    const baseUrl = await listening(silent);
    const idle = await errorOf(
      simulator.provider(wireApi, { baseUrl, streamIdleMs: 150 }),
      ask('hello', { onText }),
    );
    expect(idle.message).toMatch(/its stream was silent for 150 ms/);
    const late = await errorOf(
      simulator.provider(wireApi, { baseUrl, requestMs: 1 }),
      ask('hello', { onText }),
    );
    expect(late.message).toMatch(/no complete answer within 1 ms/);
    silent.closeAllConnections();
    silent.close();
    const closed = await errorOf(
      simulator.provider(wireApi, { baseUrl: `http://127.0.0.1:${await freePort()}` }),
      ask('hello'),
    );
    expect(closed.code).toBe('model_unreachable');
    expect(closed.message).toContain('ECONNREFUSED');
  });

  test.each([
    [429, 'rate_limit_error', 'Slow down.', 'model_rate_limit', true],
    [429, 'insufficient_quota', 'You have no credit left.', 'model_auth', false],
    [400, 'invalid_request_error', 'Your credit balance is too low to access the API.', 'model_auth', false],
    [500, 'server_error', 'Oops.', 'model_overloaded', true],
    [529, 'overloaded_error', 'Overloaded.', 'model_overloaded', true],
    [401, 'authentication_error', `Incorrect key: ${PLANTED_KEY}, or sk-pl***xwv`, 'model_auth', false],
    [403, 'permission_error', 'Not yours.', 'model_auth', false],
    [400, 'invalid_request_error', 'No such argument.', 'model_bad_request', false],
    [404, 'not_found_error', 'No such model.', 'model_bad_request', false],
    [400, 'context_length_exceeded', 'Too much.', 'model_context_length', false],
    [400, 'invalid_request_error', 'prompt is too long: 9 tokens > 8', 'model_context_length', false],
  ])('%i %s "%s" is %s', async (...[status, code, message, expected, retryable]) => {
    const body = JSON.stringify({ type: 'error', error: { type: code, code, message } });
    const provider = simulator.provider(wireApi);
    for (const onText of [undefined, (): void => undefined]) {
      simulator.answers.push({ status, body });
      const before = simulator.requests.length;
      const err = await errorOf(provider, ask('hello', onText && { onText }));
      expect([err.code, err.retryable, err.facts.got]).toEqual([expected, retryable, `status ${status}`]);
      expect(simulator.requests.length).toBe(before + 1);
    }
  });

  test('an answer outside the protocol ends the call and says where to look', async () => {
    simulator.answers.push({ status: 200, body: '{"detail":"a proxy"}' });
    const err = await errorOf(simulator.provider(wireApi), ask('hello'));
    expect(err).toMatchObject({
      code: 'model_failed',
      message: expect.stringMatching(/base_url and wire_api/) as string,
    });
  });

  test('an answer that unpacks to more than a worker can hold ends the call', async () => {
    const packed = gzipSync(Buffer.alloc(65 * 1024 * 1024, ' '));
    const bomb = createServer((_, outgoing) => {
      outgoing.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(packed);
    });
    const err = await errorOf(simulator.provider(wireApi, { baseUrl: await listening(bomb) }), ask('hello'));
    bomb.closeAllConnections();
    bomb.close();
    expect([err.code, err.retryable]).toEqual(['model_failed', false]);
    expect(err.message).toContain('its answer is longer than 64 MiB');
  });

  test('without its key it is not asked, and the check says which variable is missing', async () => {
    const provider = simulator.provider(wireApi, { key: { variable: 'HOLDFAST_TEST_NO_KEY' } });
    const before = simulator.requests.length;
    const said = {
      code: 'model_auth',
      message: expect.stringContaining('HOLDFAST_TEST_NO_KEY is not set') as string,
    };
    await expect(provider.check?.()).rejects.toMatchObject(said);
    expect(await errorOf(provider, ask('hello'))).toMatchObject(said);
    expect(simulator.requests.length).toBe(before);
    await expect(simulator.provider(wireApi).check?.()).resolves.toBeUndefined();
  });

  test('headers go along, and a provider that wants no key is sent none', async () => {
    const variableHeaders = { 'X-From-Variable': KEY_VARIABLE, 'X-Missing': 'HOLDFAST_TEST_NO_KEY' };
    const provider = simulator.provider(wireApi, {
      key: null,
      headers: { 'X-Mine': 'yes' },
      variableHeaders,
    });
    await provider.reply(ask('hello'));
    const { headers } = simulator.requests.at(-1) ?? {};
    expect(headers).toMatchObject({ 'x-mine': 'yes', 'x-from-variable': PLANTED_KEY });
    expect(Object.keys(headers ?? {})).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(authorization|x-api-key|x-missing)$/)]),
    );
  });

  test('a call that is cancelled ends at once', async () => {
    const cancelling = new AbortController();
    const onText = (): void => cancelling.abort(new Error('cancelled'));
    const reply = simulator.provider(wireApi).reply(ask('hello', { signal: cancelling.signal, onText }));
    await expect(reply).rejects.toThrow('cancelled');
  });
});

const SENT_CALLS = {
  chat: (lost: string) => ({
    messages: [
      { role: 'system', content: 'You are a test.' },
      { role: 'user', content: 'look twice' },
      {
        role: 'assistant',
        content: 'I look.',
        tool_calls: [
          { id: 'call_a', type: 'function', function: { name: 'look', arguments: '{"at":1}' } },
          { id: 'call_b', type: 'function', function: { name: 'look', arguments: '{"at":2}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'call_a', content: lost },
      { role: 'tool', tool_call_id: 'call_b', content: 'nothing' },
      { role: 'user', content: 'hello' },
    ],
    tools: [{ type: 'function', function: { name: 'look', parameters: LOOK.parameters } }],
  }),
  responses: (lost: string) => ({
    store: false,
    instructions: 'You are a test.',
    input: [
      { role: 'user', content: 'look twice' },
      { role: 'assistant', content: 'I look.' },
      { type: 'function_call', call_id: 'call_a', name: 'look', arguments: '{"at":1}' },
      { type: 'function_call', call_id: 'call_b', name: 'look', arguments: '{"at":2}' },
      { type: 'function_call_output', call_id: 'call_a', output: lost },
      { type: 'function_call_output', call_id: 'call_b', output: 'nothing' },
      { role: 'user', content: 'hello' },
    ],
    tools: [{ type: 'function', name: 'look', parameters: LOOK.parameters }],
    prompt_cache_key: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
  }),
  anthropic: (lost: string) => ({
    system: [{ type: 'text', text: 'You are a test.', cache_control: { type: 'ephemeral' } }],
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'look twice', cache_control: { type: 'ephemeral' } }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 'call_a', name: 'look', input: { at: 1 } },
          { type: 'tool_use', id: 'call_b', name: 'look', input: { at: 2 } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'call_a', content: lost, is_error: true },
          { type: 'tool_result', tool_use_id: 'call_b', content: 'nothing', is_error: true },
          { type: 'text', text: 'hello', cache_control: { type: 'ephemeral' } },
        ],
      },
    ],
    tools: [{ name: 'look', input_schema: LOOK.parameters, cache_control: { type: 'ephemeral' } }],
  }),
};

async function listening(server: Server): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('a schema is sent where the vendor enforces it, strictly if possible, and never if calls are text', async () => {
  const schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
  const closed = { ...schema, additionalProperties: false };
  const request = (outputSchema: object): ModelRequest =>
    ask('hello', { tools: [], outputSchema: { ...outputSchema } });
  await simulator.provider('chat').reply(request(schema));
  expect(simulator.lastBody).toMatchObject({
    response_format: { type: 'json_schema', json_schema: { schema, strict: false } },
  });
  await simulator.provider('responses').reply(request(closed));
  expect(simulator.lastBody).toMatchObject({
    text: { format: { type: 'json_schema', schema: closed, strict: true } },
  });
  const list = { type: 'array', items: closed };
  await simulator.provider('chat').reply(request(list));
  expect(simulator.lastBody).toMatchObject({ response_format: { json_schema: { schema: list } } });
  await simulator.provider('chat').reply(ask('hello', { outputSchema: closed }));
  expect(simulator.lastBody).not.toHaveProperty('response_format');
});

test('a key that is not a valid header and a password in an address appear in no error', async () => {
  process.env.HOLDFAST_TEST_ODD_KEY = `${PLANTED_KEY}\n${PLANTED_KEY}`;
  const odd = simulator.provider('chat', { key: { variable: 'HOLDFAST_TEST_ODD_KEY' } });
  expect((await errorOf(odd, ask('hello'))).message).toContain('[hidden]');
  delete process.env.HOLDFAST_TEST_ODD_KEY;
  const baseUrl = simulator.url.replace('//', '//me:sk-planted-a1b2c3d4e5f6-zyxwv@');
  for (const wireApi of WIRE_APIS) await errorOf(simulator.provider(wireApi, { baseUrl }), ask('hello'));
});

test('a refusal is reported as the answer, and marked', async () => {
  const message = { role: 'assistant', content: null, refusal: 'I will not.' };
  simulator.answers.push({
    status: 200,
    body: JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }] }),
  });
  expect(await simulator.provider('chat').reply(ask('hello'))).toEqual({
    text: 'I will not.',
    isRefusal: true,
    tokens: undefined,
  });
  simulator.answers.push({
    status: 200,
    body: JSON.stringify({ role: 'assistant', content: [], stop_reason: 'refusal' }),
  });
  expect(await simulator.provider('anthropic').reply(ask('hello'))).toMatchObject({
    text: 'The model refused to answer (refusal).',
    isRefusal: true,
  });
});

test('a failure reported in the middle of a stream has its code', async () => {
  const event = {
    type: 'response.failed',
    response: { status: 'failed', output: [], error: { code: 'rate_limit_exceeded', message: 'Wait.' } },
  };
  simulator.answers.push({
    status: 200,
    headers: { 'content-type': 'text/event-stream' },
    body: `event: response.failed\ndata: ${JSON.stringify(event)}\n\n`,
  });
  const responses = simulator.provider('responses');
  expect((await errorOf(responses, ask('x', { onText: () => undefined }))).code).toBe('model_rate_limit');
  const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
  simulator.answers.push({
    status: 200,
    headers: { 'content-type': 'text/event-stream' },
    body: `event: error\ndata: ${JSON.stringify(overloaded)}\n\n`,
  });
  const anthropic = simulator.provider('anthropic');
  expect((await errorOf(anthropic, ask('x', { onText: () => undefined }))).code).toBe('model_overloaded');
});

test('tokens are counted including those from the cache, and cost what is configured', async () => {
  const prices = { input: 2, cachedInput: 0.2, cacheWrite: 3, output: 10 };
  const usage = {
    input_tokens: 100,
    cache_read_input_tokens: 1_000,
    cache_creation_input_tokens: 500,
    output_tokens: 50,
  };
  const content = [{ type: 'text', text: 'Hi.' }];
  const body = JSON.stringify({ role: 'assistant', content, stop_reason: 'end_turn', usage });
  simulator.answers.push({ status: 200, body }, { status: 200, body });
  const priced = await simulator.provider('anthropic', {}, { prices, window: 8_000 }).reply(ask('hello'));
  expect(priced.usage).toEqual({
    inputTokens: 1_600,
    cachedTokens: 1_000,
    outputTokens: 50,
    costUsd: 0.0024,
  });
  expect((await simulator.provider('anthropic').reply(ask('hello'))).usage?.costUsd).toBeNull();
});

test.each(['openai', 'openai-chat'] as const)(
  '%s sends the organization and the project of the environment, and neither header without them',
  async (name) => {
    const { wireApi, variableHeaders } = HTTP_PROVIDERS[name];
    const sent = async (): Promise<unknown[]> => {
      await simulator.provider(wireApi, { variableHeaders }).reply(ask('hello'));
      const headers = simulator.requests.at(-1)?.headers;
      return [headers?.['openai-organization'], headers?.['openai-project']];
    };
    const { OPENAI_ORGANIZATION, OPENAI_PROJECT } = process.env;
    try {
      Object.assign(process.env, { OPENAI_ORGANIZATION: 'org-1', OPENAI_PROJECT: 'proj-1' });
      expect(await sent()).toEqual(['org-1', 'proj-1']);
      delete process.env.OPENAI_ORGANIZATION;
      delete process.env.OPENAI_PROJECT;
      expect(await sent()).toEqual([undefined, undefined]);
    } finally {
      for (const [key, value] of Object.entries({ OPENAI_ORGANIZATION, OPENAI_PROJECT }))
        if (value !== undefined) process.env[key] = value;
    }
  },
);

// Streams that end with an error, or before their end, over all protocols.
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import { WIRE_APIS, type WireApi } from '../../../contracts/models/model-names';
import type { ProviderSettings } from '../../../models/model-settings';
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

const event = (data: object): string =>
  `event: ${'type' in data ? String(data.type) : ''}\ndata: ${JSON.stringify(data)}\n\n`;

const streamed = (body: string): Answer => ({
  status: 200,
  headers: { 'content-type': 'text/event-stream' },
  body,
});

async function replyTo(
  wireApi: WireApi,
  answer: Answer,
  more: Partial<ProviderSettings> = {},
): Promise<RawReply> {
  simulator.answers.push(answer);
  return simulator.provider(wireApi, more).reply(ask('hello', { onText: () => undefined }));
}

async function errorTo(wireApi: WireApi, answer: Answer): Promise<HoldfastError> {
  const err: unknown = await replyTo(wireApi, answer).then(
    (reply) => new Error(`it answered: ${JSON.stringify(reply)}`),
    (thrown: unknown) => thrown,
  );
  if (!(err instanceof HoldfastError)) throw err;
  return err;
}

/** A piece of text, and what comes before it. */
const BEGUN: Record<WireApi, string> = {
  chat: event({ choices: [{ index: 0, delta: { role: 'assistant', content: 'Hi' } }] }),
  responses:
    event({ type: 'response.created', response: { status: 'in_progress' } }) +
    event({ type: 'response.output_text.delta', delta: 'Hi' }),
  anthropic:
    event({ type: 'message_start', message: { content: [], usage: { input_tokens: 3, output_tokens: 1 } } }) +
    event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }) +
    event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } }),
};

/** What completes the answer, and what may come after it. */
const COMPLETED: Record<WireApi, string> = {
  chat: event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
  responses: event({
    type: 'response.completed',
    response: {
      status: 'completed',
      output: [{ type: 'message', content: [{ type: 'output_text', text: 'Hi' }] }],
    },
  }),
  anthropic: event({
    type: 'message_delta',
    delta: { stop_reason: 'end_turn' },
    usage: { output_tokens: 5 },
  }),
};
const ENDED: Record<WireApi, string> = {
  chat: `${event({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 5 } })}data: [DONE]\n\n`,
  responses: '',
  anthropic: event({ type: 'message_stop' }),
};

describe.each(WIRE_APIS)('over %s', (wireApi) => {
  const [begun, completed, ended] = [BEGUN[wireApi], COMPLETED[wireApi], ENDED[wireApi]];
  const whole = begun + completed + ended;
  /** Without the line breaks at the end, which OpenAI's SDK does not need. */
  const needed = (begun + completed).length - 2;

  test('a stream that ends within an event is model_unreachable, wherever it is cut', async () => {
    for (let at = 1; at < needed; at += 5)
      expect([at, await errorTo(wireApi, streamed(whole.slice(0, at)))]).toEqual([
        at,
        expect.objectContaining({ code: 'model_unreachable', retryable: true }),
      ]);
    const other = {
      ...streamed(begun.slice(0, begun.indexOf('{') + 5)),
      headers: { 'content-type': 'text/plain' },
    };
    expect((await errorTo(wireApi, other)).code).toBe('model_unreachable');
  });

  test('an answer counts, wherever the stream is cut after it', async () => {
    for (let at = begun.length + completed.length; at <= whole.length; at += 1)
      expect([at, await replyTo(wireApi, streamed(whole.slice(0, at)))]).toEqual([
        at,
        expect.objectContaining({ text: 'Hi' }),
      ]);
  });

  test('a complete answer counts, whatever becomes of the connection, and an incomplete one does not', async () => {
    for (const body of [begun + completed, whole])
      expect(await replyTo(wireApi, { ...streamed(body), breaks: true })).toMatchObject({ text: 'Hi' });
    const open: Answer = { ...streamed(whole), hangs: true };
    expect(await replyTo(wireApi, open, { streamIdleMs: 300 })).toMatchObject({ text: 'Hi' });
    expect(await errorTo(wireApi, { ...streamed(begun), breaks: true })).toMatchObject({
      code: 'model_unreachable',
      message: expect.stringContaining('other side closed') as string,
    });
  });

  test('a whole event that is not JSON is model_failed, whatever comes after it', async () => {
    const bad = 'event: message_delta\ndata: {"type"\n\n';
    for (const end of ['', completed, 'data: [DONE]\n'])
      expect(await errorTo(wireApi, streamed(begun + bad + end))).toMatchObject({
        code: 'model_failed',
        message: expect.stringContaining('not valid JSON') as string,
      });
  });

  test.each<[string, object | string, string, boolean, RegExp]>([
    ['400', { code: 400, message: 'No.' }, 'model_bad_request', false, /status 400: No\./],
    [
      '400 as text',
      { code: 'odd', status: '400', message: 'No.' },
      'model_bad_request',
      false,
      /status 400: No\./,
    ],
    [
      '400, too long',
      { code: 400, message: 'This model’s maximum context length is 9.' },
      'model_context_length',
      false,
      /maximum context length is 9\./,
    ],
    ['401', { code: 401, message: 'No key.' }, 'model_auth', false, /No key\./],
    ['402', { status: 402, message: 'No credit.' }, 'model_auth', false, /No credit\./],
    ['429', { code: 429, message: 'Wait.' }, 'model_rate_limit', true, /Wait\./],
    ['none', { message: 'Oops.' }, 'model_overloaded', true, /Oops\./],
    ['none, only a text', 'The upstream is gone.', 'model_overloaded', true, /The upstream is gone\./],
  ])('an error in the middle of a stream counts by the status that it names: %s', async (...row) => {
    const [, error, code, retryable, text] = row;
    const end = event({ ...(wireApi !== 'chat' && { type: 'error' }), error });
    expect(await errorTo(wireApi, streamed(BEGUN[wireApi] + end))).toMatchObject({
      code,
      retryable,
      message: expect.stringMatching(text) as string,
    });
  });
});

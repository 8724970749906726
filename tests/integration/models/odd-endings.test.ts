// How servers end their replies: the same reply counts the same, whether somebody watches it or not.
import { createDialects } from '../../../models/dialects/dialects';
import type { ParsedReply } from '../../../contracts/agents/agent';
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
const like = (text: RegExp): string => expect.stringMatching(text) as string;
const events = (...data: object[]): string =>
  data.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('');
const streamed = (body: string): Answer => ({
  status: 200,
  headers: { 'content-type': 'text/event-stream' },
  body,
});
const whole = (body: object): Answer => ({ status: 200, body: JSON.stringify(body) });
const watched = { onText: () => undefined };
const chunk = (delta: object, reason: string | null = null): object => ({
  choices: [{ index: 0, delta, finish_reason: reason }],
});

/** A reply of each protocol that ends with a reason; streamed or not. */
const ENDING = {
  chat: (content: string, reason: string, isStream: boolean) =>
    isStream
      ? streamed(`${events(chunk({ content }), chunk({}, reason))}data: [DONE]\n\n`)
      : whole({ choices: [{ message: { content }, finish_reason: reason }] }),
  anthropic: (text: string, reason: string, isStream: boolean) =>
    isStream
      ? streamed(
          events({ type: 'content_block_start', index: 0, content_block: { type: 'text', text } })
            .replace('data', 'event: content_block_start\ndata')
            .concat(
              `event: message_delta\n${events({ type: 'message_delta', delta: { stop_reason: reason } })}`,
            ),
        )
      : whole({ content: [{ type: 'text', text }], stop_reason: reason }),
};

describe.each(['chat', 'anthropic'] as const)('over %s', (wireApi) => {
  const parsed = async (answer: Answer, isStream: boolean): Promise<ParsedReply> => {
    simulator.answers.push(answer);
    return native.parse(await simulator.provider(wireApi).reply(ask('hello', isStream ? watched : {})));
  };

  // agent0ai/agent-zero#1836
  test.each([
    'length',
    'model_length',
    'max_tokens',
    'insufficient_system_resource',
    'network_error',
    'error',
    'abort',
    'malformed_function_call',
    'anything',
  ])('a reply that ends with the reason %s is no answer', async (reason) => {
    for (const isStream of [true, false]) {
      const reply = await parsed(ENDING[wireApi]('It begins like this, and', reason, isStream), isStream);
      expect(reply).toMatchObject({ kind: 'malformed', problem: like(/cut off|broken off by the provider/) });
    }
  });

  test.each(['stop', 'STOP', 'end_turn', 'eos', 'stop_sequence'])(
    '%s is the end of an answer',
    async (reason) => {
      for (const isStream of [true, false])
        expect(await parsed(ENDING[wireApi]('Hi.', reason, isStream), isStream)).toMatchObject({
          answer: 'Hi.',
        });
    },
  );

  test('a reply that broke off before it said anything is asked for again', async () => {
    for (const isStream of [true, false])
      await expect(parsed(ENDING[wireApi]('', 'network_error', isStream), isStream)).rejects.toMatchObject({
        code: 'model_overloaded',
        retryable: true,
        message: like(/with the reason "network_error"/),
      });
  });
});

// CherryHQ/cherry-studio#19793
test('a stream that says that it is complete is one, though it gives no reason', async () => {
  simulator.answers.push(streamed(`${events(chunk({ content: 'Hi.' }))}data: [DONE]\n\n`));
  const reply = await simulator.provider('chat').reply(ask('hello', watched));
  expect([reply.text, reply.isCut, simulator.requests.length]).toEqual(['Hi.', undefined, 1]);
});

test.each(['chat', 'anthropic', 'responses'] as const)(
  'a stream without an end is asked for once more, as a whole, and after two no further stream is: %s',
  async (wireApi) => {
    const provider = simulator.provider(wireApi);
    simulator.mock.onMessage('hello', { content: 'Hello, you.' });
    const endless = streamed(events(chunk({ content: 'Hi' })));
    for (let at = 0; at < 2; at++) {
      simulator.answers.push(endless);
      expect((await provider.reply(ask('hello', watched))).text).toBe('Hello, you.');
    }
    await provider.reply(ask('hello', watched));
    expect(simulator.requests.map(({ body }) => body.stream === true)).toEqual([
      true,
      false,
      true,
      false,
      false,
    ]);
  },
);

// cubist38/mlx-openai-server#216
test('a call whose pieces have an id each is one call, also where each repeats the name', async () => {
  for (const name of [undefined, 'x']) {
    const piece = (id: string, args: string, named?: string): object =>
      chunk({ tool_calls: [{ index: 0, id, function: { arguments: args, ...(named && { name: named }) } }] });
    simulator.answers.push(
      streamed(
        events(
          piece('t-0', '{"n"', 'x'),
          piece('t-1', ':1', name),
          piece('t-2', '}', name),
          chunk({}, 'tool_calls'),
        ),
      ),
    );
    const { calls } = await simulator.provider('chat').reply(ask('hello', watched));
    expect(calls).toEqual([{ id: 't-0', tool: 'x', args: '{"n":1}' }]);
  }
});

test('a call in the first form of the protocol, and one of a custom tool, arrive with their arguments', async () => {
  const messages = [
    { function_call: { name: 'x', arguments: '{"n":1}' } },
    { tool_calls: [{ id: '', type: 'custom', custom: { name: 'x', input: '{"n":1}' } }] },
  ];
  for (const message of messages) {
    simulator.answers.push(whole({ choices: [{ message, finish_reason: 'stop' }] }));
    const { calls } = await simulator.provider('chat').reply(ask('hello'));
    expect(calls).toEqual([{ id: '', tool: 'x', args: '{"n":1}' }]);
  }
});

test('a custom call over responses is sent back with what it wrote, not taken as an empty reply', async () => {
  const call = { type: 'custom_tool_call', call_id: 'a', name: 'apply_patch', input: '*** Begin Patch' };
  simulator.answers.push(whole({ status: 'completed', output: [call] }));
  const reply = native.parse(await simulator.provider('responses').reply(ask('hello')));
  expect(reply).toMatchObject({
    kind: 'malformed',
    problem: like(/of call 1, of "apply_patch", cannot be used/),
  });
});

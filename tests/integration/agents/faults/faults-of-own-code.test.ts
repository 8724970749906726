// Tools and model providers of other people's code that are at fault: their agents hear of it at once, and go on or end.
import { z } from 'zod';
import type { RawReply } from '../../../../models/provider';
import { HoldfastTestEnvironment, realHost, scriptedModel, toolCall, toolCallsOf } from '../../../../testing';
import { defineTool } from '../../../../tools/tool';

let runs = 0;
const lookedUp = (name: string, check: (id: string) => Promise<boolean>): ReturnType<typeof defineTool> =>
  defineTool({
    name,
    description: 'Looks an id up.',
    args: z.object({ id: z.string().refine(check, 'no such id') }),
    effects: 'once',
    run: async () => `found ${++runs}`,
  });
const tools = [
  lookedUp('async_lookup', async (id) => id === '5'),
  lookedUp('broken_lookup', () => Promise.reject(new Error('the database is down'))),
];

let env: HoldfastTestEnvironment;
beforeAll(async () => {
  env = await HoldfastTestEnvironment.createLocal({ host: realHost(), tools });
}, 60_000);
afterAll(() => env.close());

test('a schema that is async, or throws, answers a model’s call and a script’s at once', async () => {
  const code = 'tool async_lookup --id 5; tool async_lookup --id 6; tool broken_lookup --id 5';
  const model = scriptedModel([
    toolCall('async_lookup', { id: '5' }),
    toolCall('async_lookup', { id: '6' }),
    toolCall('broken_lookup', { id: '5' }),
    toolCall('code_execution_tool', { runtime: 'terminal', code }),
    toolCall('code_execution_tool', { runtime: 'output', wait: 'exit' }),
    'done',
  ]);
  await env.agent('tools').start({ task: 'x', model: env.model(model) });
  expect(await env.agent('tools').result()).toMatchObject({ reason: 'answered' });
  const [found, refused, failed, ...script] = toolCallsOf(await env.turn('tools')).map(
    ({ content }) => content,
  );
  expect([found, refused]).toEqual(['found 1', expect.stringMatching(/^Error invalid_input: .*no such id/)]);
  expect(failed).toMatch(/^Error tool_failed: .*`run` was not called: the database is down/);
  const printed = script.join('').replace(/\s+/g, ' ');
  expect(printed).toMatch(/found 2.*invalid_input.*no such id.*tool_failed.*the database is down/);
  expect(runs).toBe(2);
}, 60_000);

const replying = (reply: unknown): string => env.model({ reply: async () => reply as RawReply });

test('a usage of only two numbers is counted, and the agent goes on', async () => {
  const usage = { inputTokens: 3, outputTokens: 2 };
  const agent = env.agent('counted');
  await agent.start({ mode: 'conversation', model: replying({ text: 'hello', usage }) });
  expect(await agent.send('one')).toMatchObject({ answer: 'hello' });
  expect(await agent.send('two')).toMatchObject({ answer: 'hello' });
  const total = { inputTokens: 6, outputTokens: 4, cachedTokens: 0, costUsd: null };
  expect(await agent.ownState()).toMatchObject({ usage: total });
  await agent.stop();
}, 60_000);

test.each<[string, unknown]>([
  ['nothing', undefined],
  ['no-text', { text: 5 }],
  ['half-a-usage', { text: 'x', usage: { inputTokens: 1, outputTokens: '1' } }],
])(
  'a provider that replies with %s fails the turn at once, and is named',
  async (id, reply) => {
    const model = replying(reply);
    await env.agent(id).start({ task: 'x', model });
    await expect(env.agent(id).result()).rejects.toThrow(
      expect.objectContaining({
        code: 'model_failed',
        message: expect.stringContaining(
          `the provider of ${model} gave a reply that cannot be used`,
        ) as string,
      }) as Error,
    );
  },
  60_000,
);

// Faults in a test's own code reach the test: none of them passes for something that an agent did.
import assert from 'node:assert/strict';
import {
  HoldfastTestEnvironment,
  scriptedModel,
  simulatedHost,
  toolCall,
  toolCallsOf,
} from '../../../testing';
import type { SimulatedAnswer, ToolCallRecord } from '../../../testing';
import { encryptedPayloads } from '../../../encryption';

const exec = (code: string): string => toolCall('code_execution_tool', { runtime: 'terminal', code });

/** The calls of an agent that goes on whatever happens, and what closing its environment throws. */
async function outcomeOf(
  env: HoldfastTestEnvironment,
  ...replies: string[]
): Promise<{ calls: ToolCallRecord[]; thrown: unknown }> {
  await env.agent('a').start({ task: 'x', model: env.model(scriptedModel([...replies, 'Done.'])) });
  const calls = toolCallsOf(await env.turn('a'));
  const thrown: unknown = await env.close().catch((err: unknown) => err);
  return { calls, thrown };
}

const wrong = new assert.AssertionError({ message: 'not what the test wants' });
const fails = (): never => {
  throw wrong;
};

test('what a function host throws is thrown by close(), and its agent is not told of a fault of Holdfast', async () => {
  const host = simulatedHost(fails);
  const env = await HoldfastTestEnvironment.createLocal({ host });
  const { calls, thrown } = await outcomeOf(env, exec('mke'));
  expect(thrown).toBe(wrong);
  expect(calls).toMatchObject([{ isError: true }]);
  expect(calls[0]?.content).toMatch(/^Error invalid_input: The simulated host's answer to "mke" is invalid:/);
  expect(calls[0]?.content).toContain('not what the test wants');
  expect(host.commands.map(({ code }) => code)).toEqual(['mke']);
  // Once: the error is the test's, however often it closes the environment.
  await expect(env.close()).rejects.toBe(wrong);
}, 60_000);

test('what onInput throws is thrown by close(); the input is recorded and its command still waits', async () => {
  const host = simulatedHost({ ask: { output: 'Deploy? ', onInput: fails } });
  const env = await HoldfastTestEnvironment.createLocal({ host });
  const { calls, thrown } = await outcomeOf(env, exec('ask'), toolCall('input', { keyboard: 'NO' }));
  expect(thrown).toBe(wrong);
  expect(calls[1]).toMatchObject({ tool: 'input', isError: true });
  expect(calls[1]?.content).toContain('not what the test wants');
  expect(host.inputs.map(({ text }) => text)).toEqual(['NO']);
}, 60_000);

test('an answer of another type is refused, wherever it comes from', async () => {
  const answers: Record<string, unknown> = {
    number: 5,
    output: { output: 5 },
    code: { exitCode: 'x' },
    unknown: { exitcode: 1 },
    promise: Promise.resolve('x'),
    rejected: Promise.reject(new Error('later')),
  };
  const host = simulatedHost(({ code }) => answers[code] as SimulatedAnswer);
  const env = await HoldfastTestEnvironment.createLocal({ host });
  const session = env.session({ agent: 'a', session: 0 });
  for (const code of Object.keys(answers))
    await expect(session.exec({ code })).rejects.toMatchObject({ code: 'invalid_input' });
  await expect(session.exec({ code: 'promise' }, 'again')).rejects.toThrow(
    'got a promise, allowed at once a text',
  );
  await expect(env.close()).rejects.toThrow('The simulated host\'s answer to "number" is invalid: got 5');
  // Those that are known at once are refused at once.
  expect(() => simulatedHost({ 'make test': 5 as never })).toThrow(/answer to "make test" is invalid: got 5/);
  expect(() => simulatedHost(null as never)).toThrow(/What simulatedHost\(\) takes is invalid: got null/);
}, 60_000);

test.each([
  [null, 'What createLocal() takes is invalid: got null'],
  [{ host: { 'make test': 'x' } }, 'allowed host: what simulatedHost({ ... }) or realHost() returns'],
  [{ models: null }, 'got models: null, allowed models: an object whose values are functions'],
  [{ models: { a: 5 } }, 'got models: an object with a'],
  [{ tool: [] }, 'got tool: [], allowed the options host, tools, models'],
  [{ dataConverter: { payloadConverterPath: '/nope.js' } }, 'allowed dataConverter: only `payloadCodecs`'],
  [{ dataConverter: { failureConverterPath: '/nope.js' } }, 'allowed dataConverter: only `payloadCodecs`'],
])('an environment refuses options that it cannot use: %p', async (options, text) => {
  const made = HoldfastTestEnvironment.createLocal(options as never);
  await expect(made).rejects.toMatchObject({
    code: 'invalid_input',
    message: expect.stringContaining(text) as string,
  });
});

describe('an environment', () => {
  let env: HoldfastTestEnvironment;
  beforeAll(async () => {
    const none = { host: undefined, tools: undefined, models: undefined, progress: undefined };
    const dataConverter = encryptedPayloads({ keys: [] }, {});
    env = await HoldfastTestEnvironment.createLocal({ ...none, dataConverter });
  }, 60_000);
  afterAll(() => env.close());

  test.each([null, async () => undefined, {}])('refuses the model %p where it is given', (model) => {
    expect(() => env.model(model as never)).toThrow(/What model\(\) takes is invalid.*scriptedModel\(\[/s);
  });

  test('waits for a turn that has not begun yet', async () => {
    const agent = env.agent('early');
    await agent.start({ mode: 'conversation', model: env.model(scriptedModel(['one', 'two'])) });
    const second = env.turn('early', 2);
    const first = env.turn('early');
    await agent.send('1');
    await agent.post('2');
    expect(await first).toMatchObject({ answer: 'one' });
    expect(await second).toMatchObject({ answer: 'two' });
    await agent.stop();
  }, 60_000);

  test('says that an agent, or a turn of one that has ended, does not exist', async () => {
    await expect(env.turn('nobody')).rejects.toMatchObject({ code: 'not_found' });
    await env.agent('brief').start({ task: 'x', model: env.model(scriptedModel(['done'])) });
    await expect(env.turn('brief', 2)).rejects.toThrow('Turn 2 of agent brief does not exist: got 2');
  }, 60_000);
});

test('an environment may be closed repeatedly and at once, and then says of each request that it is closed', async () => {
  const env = await HoldfastTestEnvironment.createLocal();
  const printed = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
  await Promise.all([env.close(), env.close()]);
  await env.close();
  expect(printed.mock.calls.flat().join('')).not.toContain('IllegalStateError');
  printed.mockRestore();
  const closed = {
    code: 'no_server',
    message: expect.stringContaining('has closed its connection') as string,
  };
  await expect(env.turn('a')).rejects.toMatchObject(closed);
  await expect(env.agent('a').start({ task: 'x', model: 'test:1' })).rejects.toMatchObject(closed);
}, 60_000);

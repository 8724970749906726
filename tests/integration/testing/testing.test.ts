// The guarantees of `holdfast/testing` for people who test their own workflows and agents.
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import os, { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from '@temporalio/worker';
import { z } from 'zod';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import {
  assertReplays,
  findTestServer,
  HoldfastTestEnvironment,
  realHost,
  recordHistory,
  replayHistories,
  scriptedModel,
  simulatedHost,
  toolBlock,
  toolCall,
} from '../../../testing';
import { startTestServer } from '../../../testing/test-server';
import { defineTool } from '../../../tools/tool';
import { processesNaming } from '../../helpers/engines/engine-of-its-own';
import '../../helpers/turn-matchers';

const exec = (args: object): string => toolCall('code_execution_tool', args);
const FIXTURES = join(__dirname, '..', '..', 'fixtures', 'orders');

const host = simulatedHost((command) => {
  if (command.code === 'make test') return `${command.agent}: 3 passed\n`;
  if (command.code === 'make broken') return { output: 'broken\n', exitCode: 2 };
  if (command.code === './deploy') {
    const confirm = (answer: string): string => `deploying: ${answer}\n`;
    const password = { output: 'Password: ', echo: false, onInput: () => 'in\n' };
    return { output: 'Deploy? ', onInput: (answer) => (answer === 'sudo' ? password : confirm(answer)) };
  }
  return command.code === './server' ? { output: 'listening\n', hangs: true } : undefined;
});
const double = defineTool({
  name: 'double',
  description: 'Doubles a number.',
  args: z.object({ value: z.number() }),
  effects: 'read_only',
  run: async ({ value }) => String(2 * value),
});

let env: HoldfastTestEnvironment;
beforeAll(async () => {
  env = await HoldfastTestEnvironment.createLocal({ host, tools: [double] });
}, 60_000);
afterAll(() => env.close());

let agents = 0;
async function turnOf(...replies: Parameters<typeof scriptedModel>[0]): ReturnType<typeof env.turn> {
  const id = `agent-${++agents}`;
  await env.agent(id).start({ task: 'Do it', model: env.model(scriptedModel(replies)) });
  await env.agent(id).result();
  return env.turn(id);
}

test('an agent’s commands do what the test says, and its requests are recorded', async () => {
  const turn = await turnOf(
    exec({ runtime: 'terminal', code: 'make test' }),
    { expect: '3 passed.*exit code 0', text: exec({ runtime: 'terminal', session: 1, code: 'make broken' }) },
    { expect: 'broken.*exit code 2', text: 'The build is broken.' },
  );
  expect(turn).toHaveCalledTools(['code_execution_tool', 'code_execution_tool']);
  expect(turn).toHaveCalledTool('code_execution_tool', { session: 1, code: /^make/ });
  expect(turn).not.toHaveCalledTool('input');
  expect(turn).toHaveEndedWith('answered', 'The build is broken.');
  const codes = host.commands.filter(({ agent }) => agent === `agent-${agents}`).map(({ code }) => code);
  expect(codes).toEqual(['make test', 'make broken']);
  expect(host.closed).toContainEqual({
    agent: `agent-${agents}`,
    host: 'local',
    session: 1,
    reason: 'its agent ended',
  });
});

test('an unknown command fails as one that does not exist', async () => {
  const turn = await turnOf(exec({ runtime: 'terminal', code: 'rm -rf /' }), {
    expect: 'no answer for: rm -rf /.*exit code 127',
    text: 'ok',
  });
  expect(turn).toHaveEndedWith('answered');
});

test('a simulated command waits for input, echoes it unless it is a password, and continues with the test’s answer', async () => {
  const session = env.session({ agent: 'typist', session: 0 });
  expect(await session.exec({ code: './deploy' })).toMatchObject({
    state: 'waiting_input',
    yielded: 'waiting_input',
    waiting: { echo: true, certainty: 'certain' },
    output: 'Deploy? ',
  });
  expect(await session.input({ keyboard: 'sudo' })).toMatchObject({
    output: 'sudo\nPassword: ',
    waiting: { echo: false },
  });
  expect(await session.input({ keyboard: 'secret', id: 'i' })).toMatchObject({
    state: 'exited',
    output: 'in\n',
  });
  await expect(session.input({ keyboard: 'more' })).rejects.toMatchObject({ code: 'no_running_process' });
  expect(await session.exec({ code: './deploy' })).toMatchObject({ state: 'waiting_input' });
  expect(await session.input({ keys: ['ctrl-c'] })).toMatchObject({ state: 'exited', exitCode: 130 });
  const { ref } = session;
  expect(host.inputs).toEqual([
    { ...ref, text: 'sudo', keys: [] },
    { ...ref, text: 'secret', keys: [] },
    { ...ref, text: null, keys: ['ctrl-c'] },
  ]);
});

test('a simulated command that hangs yields at once, can be waited for, and is ended by a reset', async () => {
  const session = env.session({ agent: 'server', session: 0 });
  const began = Date.now();
  expect(await session.exec({ code: './server' })).toMatchObject({ state: 'running', yielded: 'max' });
  // A real one would keep its caller waiting for 30 seconds.
  expect(Date.now() - began).toBeLessThan(20_000);
  const found = session.output({ wait: 'pattern:^listening$', from: 0 });
  expect(await found).toMatchObject({ output: 'listening\n' });
  expect(await session.reset({ reason: 'enough' })).toMatchObject({
    state: 'exited',
    killedBy: { by: 'reset', reason: 'enough' },
    epoch: 2,
  });
  expect(host.resets).toEqual([{ ...session.ref, reason: 'enough' }]);
  expect(await session.exec({ code: 'make test' })).toMatchObject({ freshShell: true, epoch: 2 });
});

test('the same command id runs once on a simulated host too', async () => {
  const session = env.session({ agent: 'once', session: 0 });
  const first = await session.exec({ code: 'make test', id: 'same' });
  expect(await session.exec({ code: 'make test', id: 'same' }, 'again')).toEqual(first);
  expect(host.commands.filter(({ agent }) => agent === 'once')).toHaveLength(1);
});

test('own tools are called, and a scripted model remembers what it was asked', async () => {
  const model = scriptedModel([toolCall('double', { value: 21 }), { expect: '^42$', text: 'It is 42.' }]);
  await env.agent('doubler').start({ task: 'Double 21', model: env.model(model) });
  expect(await env.agent('doubler').result()).toMatchObject({ answer: 'It is 42.' });
  expect(model.requests[0]?.system).toContain('Doubles a number.');
  expect(model.requests[1]?.messages.at(-1)?.text).toBe('{"tool_name":"double","tool_result":"ok"}\n42');
});

test('a scripted model speaks the other dialects: a tagged block, and calls beside the text', async () => {
  const block = toolBlock([
    { tool: 'double', args: { value: 4 } },
    { id: 'wrong', tool: 'double', args: { value: 'x' } },
  ]);
  const tagged = scriptedModel([
    `I double.\n${block}`,
    {
      expect: '^TOOL_EXECUTION_RESULT$.*call_1: double, ok ===\\n8\\n=== wrong: double, error',
      text: 'It is 8.',
    },
  ]);
  const calls = [
    { tool: 'double', args: { value: 5 } },
    { tool: 'double', args: '{"value": ' },
  ];
  const native = scriptedModel([
    { calls },
    { expect: 'arguments of call 2, of "double", cannot be used', calls: calls.slice(0, 1) },
    { expect: '^10$', text: 'It is 10.', cut: true },
    { expect: 'length limit', text: 'It is 10.' },
  ]);
  const models = {
    tagged: { ...tagged, dialect: 'tagged' },
    native: { ...native, dialect: 'native' },
  } as const;
  const results = Object.entries(models).map(async ([id, model]) => {
    await env.agent(id).start({ task: 'Double', model: env.model(model) });
    return env.agent(id).result();
  });
  expect(await Promise.all(results)).toMatchObject([{ answer: 'It is 8.' }, { answer: 'It is 10.' }]);
  expect(tagged.requests[0]).not.toHaveProperty('tools');
  expect(native.requests[0]?.tools?.map(({ name }) => name)).toContain('double');
  expect(native.requests[2]?.messages.slice(3)).toEqual([
    { role: 'assistant', text: '', calls: [{ id: 'reply_2_call_1', tool: 'double', args: '{"value":5}' }] },
    { role: 'tool', callId: 'reply_2_call_1', tool: 'double', text: '10', isError: false },
  ]);
});

test('a faulty scripted model is refused where it is written, with every fault', () => {
  expect(() => scriptedModel([{ expect: '(', text: 'x' }, {}])).toThrow(
    /reply 1.*not a regular expression.*reply 2/,
  );
});

describe('replay', () => {
  let worker: Worker;
  let running: Promise<void>;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'holdfast-histories-'));
    const steps = { reserve: async () => undefined, charge: async () => undefined };
    worker = await Worker.create({
      connection: env.temporal.nativeConnection,
      taskQueue: 'orders',
      workflowsPath: join(FIXTURES, 'recorded.ts'),
      activities: steps,
    });
    running = worker.run();
  }, 60_000);
  afterAll(async () => {
    worker.shutdown();
    await running;
    rmSync(folder, { recursive: true, force: true });
  });
  const runs = { taskQueue: 'orders' };
  const code = (file: string): { workflowsPath: string } => ({ workflowsPath: join(FIXTURES, file) });

  test('passes for a workflow that is unchanged, and finds activities in another order and says which', async () => {
    await env.temporal.client.workflow.execute('order', { ...runs, workflowId: 'order/1', args: [] });
    const file = join(folder, 'order.json');
    await recordHistory(env.client, 'order/1', file);
    const from = { client: env.client, workflowIds: ['order/1'], files: [file] };
    const same = await replayHistories({ ...from, workflows: code('recorded.ts') });
    expect(same).toMatchObject([
      { source: file, workflowId: 'order/1', workflowType: 'order', replays: true, error: null },
      { source: 'order/1', replays: true },
    ]);
    assertReplays(same);
    const changed = await replayHistories({ ...from, workflows: code('changed.ts') });
    expect(changed.map(({ replays }) => replays)).toEqual([false, false]);
    expect(() => assertReplays(changed)).toThrow(
      /^The history of 2 of 2 workflows does not replay:.*order\.json.*'reserve' does not match.*'charge'.*Next: /s,
    );
  }, 60_000);

  test('of Holdfast’s own workflows needs no code to be named', async () => {
    await turnOf(exec({ runtime: 'terminal', code: 'make test' }), 'ok');
    const agent = `agent/agent-${agents}`;
    const workflowIds = [agent, `${agent}/turn/1`, `exec/agent-${agents}/local/0`];
    const verdicts = await replayHistories({ client: env.client, workflowIds });
    assertReplays(verdicts);
    expect(verdicts.map(({ workflowType }) => workflowType)).toEqual(['agent', 'turn', 'execSession']);
  }, 60_000);

  test('of nothing proves nothing and is refused', async () => {
    await expect(replayHistories({ files: [folder + '/../holdfast-nothing'] })).rejects.toThrow('ENOENT');
    await expect(replayHistories({ workflowIds: ['order/1'] })).rejects.toMatchObject({
      code: 'invalid_input',
    });
  });

  test('an agent that its parent leaves behind is cancelled when the parent ends', async () => {
    const model = env.model(scriptedModel([{ text: 'late', delayMs: 600_000 }]));
    const args = ['left', model];
    await env.temporal.client.workflow.execute('leaveAgent', { ...runs, workflowId: 'leave/1', args });
    await expect(env.temporal.client.workflow.getHandle('agent/left').result()).rejects.toMatchObject({
      cause: { name: 'CancelledFailure' },
    });
  }, 60_000);

  test('an invalid agent id fails its parent at once, instead of its task forever', async () => {
    const options = { ...runs, workflowId: 'leave/2', args: ['No Id', 'test:1'] };
    await expect(env.temporal.client.workflow.execute('leaveAgent', options)).rejects.toMatchObject({
      cause: { type: 'invalid_input' },
    });
  }, 60_000);
});

/** A temporary folder for this file's own: those of other files come and go in the usual one. */
async function inOwnTmpdir(work: (own: string) => Promise<void>): Promise<void> {
  const own = mkdtempSync(join(tmpdir(), 'holdfast-own-tmp-'));
  const spy = jest.spyOn(os, 'tmpdir').mockReturnValue(own);
  try {
    await work(own);
  } finally {
    spy.mockRestore();
    rmSync(own, { recursive: true });
  }
}

test('a host with real terminals runs commands, and closing the environment leaves no process and no file', async () => {
  await inOwnTmpdir(async (own) => {
    const workdir = mkdtempSync(join(tmpdir(), 'holdfast-workdir-'));
    const real = await HoldfastTestEnvironment.createLocal({
      host: realHost({ workdir, env: { OWN: 'mine' } }),
    });
    const session = real.session({ agent: 'real', session: 0 });
    expect(await session.exec({ code: 'echo $OWN; pwd; touch made; read -r x' })).toMatchObject({
      state: 'waiting_input',
      output: `mine\n${workdir}\n`,
    });
    expect(existsSync(join(workdir, 'made'))).toBe(true);
    const folders = readdirSync(own).filter((name) => name.startsWith('holdfast-testing-'));
    expect(folders).toHaveLength(1);
    await real.close();
    expect(processesNaming(own)).toEqual([]);
    rmSync(workdir, { recursive: true });
    expect(readdirSync(own)).toEqual([]);
  });
}, 60_000);

test('an environment whose workers cannot be made says why, and leaves no file', async () => {
  await inOwnTmpdir(async (own) => {
    const workdir = join(__filename, 'below-a-file');
    const made = HoldfastTestEnvironment.createLocal({ host: realHost({ workdir }) });
    await expect(made).rejects.toMatchObject({
      code: 'storage_failed',
      message: expect.stringContaining('a part of its path is no folder') as string,
    });
    expect(readdirSync(own)).toEqual([]);
  });
}, 60_000);

const skippingTest = process.env.HOLDFAST_TEST_SERVER ? test : test.skip;

skippingTest(
  'a workflow of one’s own waits days for its agent, in seconds',
  async () => {
    const skipping = await HoldfastTestEnvironment.createTimeSkipping();
    const worker = await Worker.create({
      connection: skipping.temporal.nativeConnection,
      taskQueue: 'orders',
      workflowsPath: join(FIXTURES, 'recorded.ts'),
    });
    const args = ['patient', skipping.model(scriptedModel(['hello yourself']))];
    const options = { taskQueue: 'orders', workflowId: 'talk/1', args };
    const answer: unknown = await worker.runUntil(
      skipping.temporal.client.workflow.execute('talkToAgent', options),
    );
    expect(answer).toBe('hello yourself');
    await skipping.close();
  },
  60_000,
);

skippingTest(
  'real terminals run beside skipped time too',
  async () => {
    const skipping = await HoldfastTestEnvironment.createTimeSkipping({ host: realHost() });
    const session = skipping.session({ agent: 'real', session: 0 }, { idleMs: 48 * 3_600_000 });
    expect(await session.exec({ code: 'echo real' })).toMatchObject({ output: 'real\n', exitCode: 0 });
    await session.closed();
    await skipping.close();
  },
  60_000,
);

test('if no test server is available, the reason is known before a test begins and is in its error', async () => {
  const nowhere = mkdtempSync(join(tmpdir(), 'holdfast-nowhere-'));
  const bare = { PATH: process.env.PATH, XDG_CACHE_HOME: nowhere, HOLDFAST_NO_DOWNLOAD: '1' };
  expect(await findTestServer(bare)).toEqual({
    missing: expect.stringContaining('HOLDFAST_NO_DOWNLOAD') as string,
  });
  const err: unknown = await startTestServer(bare).catch((reason: unknown) => reason);
  expect(err).toBeInstanceOf(HoldfastError);
  expect(err).toMatchObject({
    code: 'test_server_missing',
    message: expect.stringContaining('Next: ') as string,
  });
  rmSync(nowhere, { recursive: true });
});

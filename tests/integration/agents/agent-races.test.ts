// What could wedge an agent: foreign signals, simultaneous messages, replies that
// add up to more than the server accepts.
import { setTimeout as delay } from 'node:timers/promises';
import { WorkflowUpdateStage, type WorkflowHandle } from '@temporalio/client';
import * as z from 'zod/mini';
import { HOST_NAMESPACE_MEMO } from '../../../contracts/messages';
import type { ModelRequest } from '../../../models/provider';
import { HoldfastTestEnvironment, simulatedHost } from '../../../testing';
import { defineTool } from '../../../tools/tool';
import { until } from '../../helpers/until';

let env: HoldfastTestEnvironment;
const big = defineTool({
  name: 'big',
  description: 'A large text.',
  args: z.strictObject({}),
  effects: 'read_only',
  run: () => Promise.resolve('x'.repeat(200_000)),
});
/** A tool that lasts until it is cancelled. */
const holds = { began: (): void => undefined };
const holding = defineTool({
  name: 'holds',
  description: 'Waits.',
  args: z.strictObject({}),
  effects: 'read_only',
  run: async (_, { signal }) => {
    holds.began();
    await delay(600_000, undefined, { signal });
    return 'done';
  },
});
/** A tool that runs a command in a session, when its turn may be over. */
const late = { began: (): void => undefined, gate: Promise.resolve(), sent: Promise.resolve<unknown>(null) };
const opening = defineTool({
  name: 'opens',
  description: 'Opens a session, late.',
  args: z.strictObject({ session: z.number() }),
  effects: 'idempotent',
  run: async ({ session }, { agent, client, key, signal }) => {
    late.began();
    await late.gate;
    late.sent = client.session({ agent, session }).exec({ code: 'true' }, key, signal);
    await late.sent;
    return 'opened';
  },
});
const quick = defineTool({
  name: 'quick',
  description: 'Takes effect at once.',
  args: z.strictObject({}),
  effects: 'once',
  run: () => Promise.resolve('took effect'),
});

beforeAll(async () => {
  env = await HoldfastTestEnvironment.createLocal({
    host: simulatedHost({ true: '' }),
    tools: [big, holding, opening, quick],
  });
}, 60_000);
afterAll(() => env.close());

const says = (text: string, delayMs = 0): string =>
  env.model({ reply: ({ signal }) => delay(delayMs, { text }, { signal }) });
/** A model that makes these calls in its first step and then answers with the results. */
const calls = (list: object[]): string => {
  let n = 0;
  return env.model({
    reply: ({ messages }) =>
      Promise.resolve({
        text: n++ === 0 ? `<tool>${JSON.stringify(list)}</tool>` : `heard: ${messages.at(-1)?.text}`,
      }),
  });
};
const workflow = (id: string): WorkflowHandle => env.client.temporal.workflow.getHandle(id);

test('a signal between our own workflows that anybody else sends is refused, and fails no workflow task', async () => {
  const agent = env.agent('refuses');
  // It answers when all signals are sent: a turn that has ended takes none.
  let answer = (): void => undefined;
  const sent = new Promise<void>((resolve) => (answer = resolve));
  const model = env.model({ reply: () => sent.then(() => ({ text: 'ok' })) });
  await agent.start({ mode: 'conversation', model });
  const first = agent.send('a');
  const turn = workflow('agent/refuses/turn/1');
  const itself = workflow('agent/refuses');
  await until(() =>
    turn.describe().then(
      () => true,
      () => false,
    ),
  );
  for (const payload of [[], [null], ['x'], [{ key: 'k', result: { usage: 1 } }]])
    await turn.signal('agentsEnded', ...payload);
  for (const payload of [[], [{ agentId: 'a' }], [{ agentId: 'a', result: { answer: 1 } }]])
    await itself.signal('agentEnded', ...payload);
  for (const payload of [[], [{ key: 1, turn: 5 }], [{ key: 'k', turn: '', agentIds: [] }]])
    await itself.signal('awaitAgents', ...payload);
  const { workflowId } = turn;
  for (const waiting of [[null], 'x', [{}], [{ expiresAt: '2099-01-01' }]])
    for (const taker of [turn, itself]) await taker.signal('questions', { workflowId, waiting });
  for (const payload of [[], [{}]])
    for (const taker of [turn, itself]) await taker.signal('questions', ...payload);
  answer();
  expect(await first).toMatchObject({ answer: 'ok' });
  const { refused } = await agent.state();
  expect(refused).toHaveLength(5);
  expect(refused[0]).toContain('invalid');
  await agent.stop();
  await agent.result();
});

test('a spawn is one sub-agent however often its key arrives at the same time, and its parent shows its state meanwhile', async () => {
  const agent = env.agent('spawns');
  await agent.start({ mode: 'conversation', model: says('ok') });
  await agent.send('a');
  const request = { key: 'k', role: 'r', prompt: 'p', model: says('done') };
  const ids = await Promise.all([
    ...[1, 2, 3].map((n) =>
      workflow('agent/spawns').executeUpdate('spawn', { args: [request], updateId: `u${n}` }),
    ),
    agent.post('b'),
  ]);
  const one = { agentId: 'spawns-r-1' };
  expect(ids).toEqual([one, one, one, undefined]);
  await agent.waitForAgents({ agentIds: ['spawns-r-1'] });
  expect((await agent.state()).agents).toHaveLength(1);
  await agent.stop();
  await agent.result();
});

test('the key of a spawn that arrives with another task starts nothing and is refused', async () => {
  const agent = env.agent('respawns');
  await agent.start({ mode: 'conversation', model: says('ok') });
  await agent.send('a');
  const request = { key: 'constructor', role: 'r', prompt: 'p', model: says('done') };
  const id = await agent.spawn(request);
  await expect(agent.spawn({ ...request, prompt: 'q' })).rejects.toMatchObject({ code: 'id_conflict' });
  // What a role's file adds may change between two attempts of one call.
  expect(await agent.spawn({ ...request, instructions: 'be brief' })).toBe(id);
  expect((await agent.state()).agents).toHaveLength(1);
  await agent.stop();
  await agent.result();
});

test('a message id is accepted once: with the same text it is answered again, with another it is refused', async () => {
  const agent = env.agent('resends');
  await agent.start({ mode: 'conversation', model: says('ok') });
  expect(await agent.send('a', { id: 'm' })).toMatchObject({ answer: 'ok' });
  expect(await agent.send('a', { id: 'm' })).toMatchObject({ answer: 'ok' });
  await expect(agent.send('b', { id: 'm' })).rejects.toMatchObject({ code: 'id_conflict' });
  // As another SDK sends it: with a separate id for the update, and by signal.
  const handle = workflow('agent/resends');
  const again = { args: [{ id: 'm', message: 'a' }] as [object], updateId: 'other' };
  expect(await handle.executeUpdate('send', again)).toMatchObject({ answer: 'ok' });
  await handle.signal('send', { id: 'm', message: 'a' });
  await handle.signal('send', { id: 'm', message: 'c' });
  expect(await agent.state()).toMatchObject({
    turns: 1,
    refused: [expect.stringContaining('The id m was already used')],
  });
  await agent.recover('one', 'r');
  await expect(agent.recover('two', 'r')).rejects.toMatchObject({ code: 'id_conflict' });
  await agent.stop();
  await agent.result();
});

test('an agent that is stopped while it starts a sub-agent stops that, too', async () => {
  const agent = env.agent('stops');
  await agent.start({ mode: 'conversation', model: says('ok') });
  await agent.send('a');
  const args: [object] = [{ key: 'k', role: 'r', prompt: 'p', model: says('late', 60_000) }];
  const spawned = await workflow('agent/stops').startUpdate<{ agentId: string }, [object]>('spawn', {
    args,
    waitForStage: WorkflowUpdateStage.ACCEPTED,
  });
  await agent.stop();
  const { agentId: id } = await spawned.result();
  await agent.result();
  expect(await env.agent(id).result()).toMatchObject({ reason: 'stopped' });
});

test('a call of an agent that was stopped is told at once: it opens no session, however late it comes to it', async () => {
  const agent = env.agent('opens-late');
  const began = new Promise<void>((resolve) => (late.began = resolve));
  let open = (): void => undefined;
  late.gate = new Promise((resolve) => (open = resolve));
  const model = calls([{ tool_name: 'opens', arguments: { session: 7 } }]);
  await agent.start({ task: 'x', model, dialect: 'tagged' });
  await began;
  await agent.stop();
  expect(await agent.result()).toMatchObject({ reason: 'stopped' });
  open();
  await until(() =>
    late.sent.then(
      (view) => view !== null,
      () => true,
    ),
  );
  await expect(late.sent).rejects.toThrow();
  const session = env.client.session({ agent: 'opens-late', session: 7 });
  await expect(session.state()).rejects.toMatchObject({ code: 'not_found' });
});

test('an agent that is recovered by a signal and cancelled at the same moment ends', async () => {
  const agent = env.agent('cancelled');
  await agent.start({ mode: 'conversation', model: says('ok') });
  await agent.send('a');
  const handle = workflow('agent/cancelled');
  await Promise.all([handle.signal('recover', {}), handle.cancel()]);
  await expect(agent.result()).rejects.toMatchObject({ code: 'agent_ended' });
});

test('an agent that is interrupted by a signal and then cancelled, both while a tool runs, ends', async () => {
  const agent = env.agent('interrupted');
  const began = new Promise<void>((resolve) => (holds.began = resolve));
  await agent.start({ task: 'x', model: calls([{ tool_name: 'holds', arguments: {} }]), dialect: 'tagged' });
  await began;
  const handle = workflow('agent/interrupted');
  await handle.signal('interrupt');
  // An answer to a query: the signal has been taken.
  await agent.state();
  await handle.cancel();
  await expect(agent.result()).rejects.toMatchObject({ code: 'agent_ended' });
});

test('a step that is cut off keeps the results of its calls that had ended, and the model gets them', async () => {
  const agent = env.agent('cut-off');
  const began = new Promise<void>((resolve) => (holds.began = resolve));
  let n = 0;
  const names = ['holds', 'quick'];
  const calling = `<tool>${JSON.stringify(names.map((name) => ({ tool_name: name, arguments: {} })))}</tool>`;
  const isTold = ({ messages }: ModelRequest): boolean =>
    messages.some(({ text }) => text.includes('took effect'));
  const model = env.model({
    reply: (request) => Promise.resolve({ text: n++ === 0 ? calling : `told: ${isTold(request)}` }),
  });
  await agent.start({ mode: 'conversation', model, dialect: 'tagged' });
  const first = agent.send('a');
  await began;
  const running = async (): Promise<number | undefined> =>
    (await workflow('agent/cut-off/turn/1').describe()).raw.pendingActivities?.length;
  await until(async () => (await running()) === 1);
  await agent.recover('it hangs');
  expect(await first).toMatchObject({ reason: 'recovered' });
  const { messages } = await agent.transcript();
  expect(messages.filter(({ role }) => role === 'tool')).toMatchObject([
    { tool: 'quick', content: 'took effect' },
  ]);
  expect(await agent.send('b')).toMatchObject({ answer: 'told: true' });
  await agent.stop();
  await agent.result();
});

/** As a turn that an earlier agent of this id has left over. On a queue without a worker it never ends. */
const leftOver = (workflowId: string, taskQueue: string): Promise<WorkflowHandle> =>
  env.client.temporal.workflow.start('quota', { workflowId, taskQueue, args: [] });

test('a turn that an earlier agent left over is cancelled, and the new agent’s takes its place', async () => {
  const left = await leftOver('agent/replaces/turn/1', env.client.server.queue);
  await env.agent('replaces').start({ task: 'a', model: says('ok') });
  expect(await env.agent('replaces').result()).toMatchObject({ answer: 'ok' });
  await expect(left.result()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
});

test('a turn that an earlier agent left over and that does not end fails one message, and the agent goes on', async () => {
  const left = await leftOver('agent/goes-on/turn/2', 'nobody');
  const agent = env.agent('goes-on');
  await agent.start({ mode: 'conversation', model: says('ok') });
  expect(await agent.send('a')).toMatchObject({ answer: 'ok' });
  expect(await agent.send('b')).toMatchObject({
    answer: null,
    error: { code: 'turn_left_over', message: expect.stringContaining('agent/goes-on/turn/2') as string },
  });
  expect(await agent.send('c')).toMatchObject({ answer: 'ok' });
  await left.terminate();
  await agent.stop();
  await agent.result();
}, 60_000);

test('an agent that recovers while it waits for a turn that was left over goes on, and keeps the message', async () => {
  const left = await leftOver('agent/recovers-early/turn/1', 'nobody');
  const agent = env.agent('recovers-early');
  await agent.start({ mode: 'conversation', model: says('ok') });
  const first = agent.send('the first');
  await until(async () => (await agent.state()).status === 'working');
  await agent.recover('it hangs');
  expect(await first).toMatchObject({ answer: null, reason: 'recovered', error: null });
  expect(await agent.send('the second')).toMatchObject({ answer: 'ok' });
  const { messages } = await agent.transcript();
  expect(messages).toMatchObject([{ text: 'the first' }, { text: 'the second' }, { role: 'assistant' }]);
  await left.terminate();
  await agent.stop();
  await agent.result();
}, 60_000);

test('references that add up to more than can be recorded fail their call, and the turn continues', async () => {
  const agent = env.agent('refers');
  const refs = Array.from({ length: 15 }, () => '$a');
  const model = calls([
    { call_id: 'a', tool_name: 'big', arguments: {} },
    { call_id: 'b', tool_name: 'list_agents', arguments: { all: refs } },
  ]);
  await agent.start({ task: 'x', model, dialect: 'tagged' });
  expect((await agent.result()).answer).toMatch(/dependency_failed: .*are \d+ bytes, allowed 1000000/);
});

test('a reply of more calls than the server takes is sent back, and none of them runs', async () => {
  const agent = env.agent('many');
  const model = calls(Array.from({ length: 2_100 }, () => ({ tool_name: 'big', arguments: {} })));
  await agent.start({ task: 'x', model, dialect: 'tagged' });
  expect((await agent.result()).answer).toContain('It holds 2100 calls, allowed 100 in one reply');
});

test('long instructions go along with no call: as many calls as a reply may have run with them', async () => {
  const agent = env.agent('long');
  const model = calls(Array.from({ length: 100 }, () => ({ tool_name: 'nope', arguments: {} })));
  await agent.start({ task: 'x', model, dialect: 'tagged', instructions: 'y'.repeat(100_000) });
  expect((await agent.result()).answer).toContain('call_100: nope, error');
});

test('a model that may not call wait_for_agents is told so', async () => {
  const agent = env.agent('waits');
  const model = calls([{ tool_name: 'wait_for_agents', arguments: { agent_ids: ['x'] } }]);
  await agent.start({ task: 'x', model, dialect: 'tagged', tools: ['read_file'] });
  expect((await agent.result()).answer).toContain('tool_not_allowed');
});

test('an agent continues although its last answer and those of its sub-agents are too large to be carried over whole', async () => {
  const agent = env.agent('large');
  const text = JSON.stringify('z'.repeat(160_000));
  await agent.start({ mode: 'conversation', model: says(text), outputSchema: { type: 'string' } });
  const { runId } = await agent.state();
  const spawn = (key: string): Promise<string> =>
    agent.spawn({ key, role: key, prompt: 'p', model: says('y'.repeat(200_000)) });
  await agent.waitForAgents({ agentIds: await Promise.all([spawn('a'), spawn('b')]) });
  const message = 'm'.repeat(450_000);
  for (let turn = 1; turn <= 9; turn++) await agent.send(message);
  const state = await agent.state();
  expect(state.runId).not.toBe(runId);
  await agent.stop();
  await agent.result();
}, 120_000);

test('a task has its answer, and says so, although a session of it cannot be told to close', async () => {
  const gone = await env.client.temporal.workflow.start('host', {
    ...{ workflowId: 'host/gone', taskQueue: env.client.server.queue, args: [{}] as [object] },
    memo: { [HOST_NAMESPACE_MEMO]: 'nowhere' },
  });
  const agent = env.agent('unclosed');
  const model = calls([{ tool_name: 'input', arguments: { session: 0, keyboard: 'x' } }]);
  await agent.start({ task: 'x', model, dialect: 'tagged', host: 'gone' });
  expect(await agent.result()).toMatchObject({
    answer: expect.stringContaining('namespace_missing') as string,
  });
  expect((await agent.ownState()).refused).toEqual([expect.stringContaining('nowhere')]);
  await gone.terminate();
}, 60_000);

// Conversations that outgrow a model, a turn or a history.
import { setTimeout as delay } from 'node:timers/promises';
import type { AgentHandle } from '../../../../client/agents/agent-handle';
import { HoldfastError } from '../../../../contracts/errors/holdfast-error';
import type { ModelProvider, ModelRequest, RawReply } from '../../../../models/provider';
import { defineTool } from '../../../../tools/tool';
import { HoldfastTestEnvironment, simulatedHost, toolCall } from '../../../../testing';
import { until } from '../../../helpers/until';
import { isSummary, textsOf } from './model-requests';
import * as z from 'zod/mini';

let env: HoldfastTestEnvironment;
const runs: string[] = [];
const note = defineTool({
  name: 'note',
  description: 'Notes a text.',
  args: z.strictObject({ text: z.string() }),
  effects: 'once',
  run: ({ text }) => {
    runs.push(text);
    return Promise.resolve(`noted ${text}`);
  },
});

beforeAll(async () => {
  env = await HoldfastTestEnvironment.createLocal({ host: simulatedHost({ true: '' }), tools: [note] });
}, 60_000);
afterAll(() => env.close());

/** A custom model: gets the request and its number. */
function model(
  reply: (request: ModelRequest, n: number) => RawReply,
  more: Partial<ModelProvider> = {},
): string {
  let n = 0;
  return env.model({ ...more, reply: (request) => Promise.resolve(reply(request, n++)) });
}
const usage = (
  inputTokens: number,
  outputTokens = 100,
  costUsd: number | null = null,
): RawReply['usage'] => ({
  inputTokens,
  outputTokens,
  cachedTokens: 0,
  costUsd,
});

describe('a spent budget ends the turn before its next step, with its reason and the answer so far', () => {
  const asksOn = (each: RawReply['usage']): string =>
    model((_, n) => ({
      text: `So far ${n}. ${toolCall('note', { text: 'budget' })}`,
      ...(each && { usage: each }),
    }));

  test.each([
    { what: 'tokens', limits: { tokens: 3_000 }, each: usage(1_000, 100), reason: 'token_limit', steps: 3 },
    { what: 'cost', limits: { costUsd: 0.5 }, each: usage(10, 10, 0.25), reason: 'cost_limit', steps: 2 },
  ] as const)('of $what', async ({ what, limits, each, reason, steps }) => {
    const agent = env.agent(`budget-${what}`);
    await agent.start({ task: 'x', model: asksOn(each), limits });
    const result = await agent.result();
    expect(result).toMatchObject({ reason, steps, answer: `So far ${steps - 1}.` });
    expect(result.usage?.inputTokens).toBe(steps * (each?.inputTokens ?? 0));
  });

  test('of what its sub-agents took, too', async () => {
    const child = model(() => ({ text: 'found', usage: usage(5_000) }));
    const id = 'budget-tree';
    const parent = model((_, n) => ({
      text:
        n === 0
          ? toolCall('spawn_agent', { role: 'finder', prompt: 'find', model: child })
          : toolCall('wait_for_agents', { agent_ids: [`${id}-finder-1`] }),
      usage: usage(100, 0),
    }));
    await env.agent(id).start({ task: 'x', model: parent, limits: { tokens: 5_000 } });
    expect(await env.agent(id).result()).toMatchObject({
      reason: 'token_limit',
      steps: 2,
      usage: { inputTokens: 5_200 },
    });
    expect((await env.agent(`${id}-finder-1`).state()).settings.limits).toMatchObject({ tokens: 4_900 });
  });

  /** Starts one sub-agent with each of the models, waits for all of them in one call, and answers. */
  const waitsFor = (id: string, models: string[], costUsd: number): string =>
    model((_, n) => {
      const next = models[n];
      const ids = models.map((_name, at) => `${id}-helper-${at + 1}`);
      const spawn = toolCall('spawn_agent', { role: 'helper', prompt: 'help', model: next ?? null });
      const wait = n === models.length ? toolCall('wait_for_agents', { agent_ids: ids }) : 'done';
      return { text: next === undefined ? wait : spawn, usage: usage(1, 1, costUsd) };
    });
  const free = (): string => model(() => ({ text: 'helped', usage: usage(1) }));

  test('of the cost of a sub-agent, also where another that is awaited in the same call has no price', async () => {
    const id = 'budget-together';
    const paid = model(() => ({ text: 'helped', usage: usage(1, 1, 0.5) }));
    const parent = waitsFor(id, [free(), paid], 0.125);
    await env.agent(id).start({ task: 'x', model: parent, limits: { costUsd: 0.75 } });
    expect(await env.agent(id).result()).toMatchObject({
      ...{ reason: 'cost_limit', steps: 3 },
      usage: { costUsd: null, pricedUsd: 0.875 },
    });
  });

  test('of the cost of a sub-agent, also where one that it waited for itself has no price', async () => {
    const id = 'budget-nested';
    const lead = waitsFor(`${id}-helper-1`, [free()], 0.25);
    const parent = waitsFor(id, [lead], 0.125);
    await env.agent(id).start({ task: 'x', model: parent, limits: { costUsd: 1 } });
    expect(await env.agent(id).result()).toMatchObject({
      ...{ reason: 'cost_limit', steps: 2 },
      usage: { costUsd: null, pricedUsd: 1 },
    });
  });
});

test('a conversation that fills the model’s window is summarised in a step, and the model continues with the summary', async () => {
  const seen: ModelRequest[] = [];
  const name = model(
    (request, n) => {
      seen.push(request);
      if (isSummary(request)) return { text: 'The task is x; alpha is done.', usage: usage(900) };
      if (n === 0) return { text: toolCall('note', { text: 'alpha' }), usage: usage(850) };
      return { text: 'done', usage: usage(50) };
    },
    { window: 1_000 },
  );
  const agent = env.agent('compact');
  await agent.start({ task: 'the long task', model: name });
  expect(await agent.result()).toMatchObject({ answer: 'done', steps: 3, usage: { inputTokens: 1_800 } });
  expect(textsOf(seen[1] as ModelRequest)).toMatch(/the long task[^]*noted alpha/);
  expect(textsOf(seen[2] as ModelRequest)).toContain('The task is x; alpha is done.');
  expect(textsOf(seen[2] as ModelRequest)).not.toContain('noted alpha');
  expect((await agent.transcript()).messages.map(({ role }) => role)).toEqual([
    'user',
    'assistant',
    'tool',
    'summary',
    'assistant',
  ]);
});

test('a conversation that the provider calls too long is summed up once, and ends the turn when that does not help', async () => {
  const tooLong = new HoldfastError('model_context_length', {
    model: 'm',
    got: 400,
    reason: 'too many tokens',
  });
  const asked: string[] = [];
  const name = (id: string, helps: boolean): string =>
    env.model({
      reply: (request) => {
        asked.push(`${id} ${isSummary(request) ? 'summary' : 'step'}`);
        if (isSummary(request)) return Promise.resolve({ text: 'In short.' });
        const text = textsOf(request);
        if (text.includes('noted') || (text.includes('In short.') && !helps)) return Promise.reject(tooLong);
        const isDone = text.includes('In short.');
        return Promise.resolve({ text: isDone ? 'done' : toolCall('note', { text: 'long' }) });
      },
    });
  await env.agent('too-long').start({ task: 'x', model: name('helps', true) });
  expect(await env.agent('too-long').result()).toMatchObject({ answer: 'done', steps: 4 });
  await env.agent('still-too-long').start({ task: 'x', model: name('not', false) });
  await expect(env.agent('still-too-long').result()).rejects.toMatchObject({ code: 'model_context_length' });
  expect(asked).toEqual([
    ...['helps step', 'helps step', 'helps summary', 'helps step'],
    ...['not step', 'not step', 'not summary', 'not step'],
  ]);
});

test('a model whose window is not known gets less and less to sum up, until it can', async () => {
  const asked: number[] = [];
  const name = env.model({
    reply: (request) => {
      const text = textsOf(request);
      if (isSummary(request)) asked.push(Math.round(text.length / 1_000));
      if (text.length > 20_000)
        return Promise.reject(
          new HoldfastError('model_context_length', { model: 'm', got: 400, reason: 'too many tokens' }),
        );
      if (isSummary(request)) return Promise.resolve({ text: 'In short.', usage: usage(10) });
      const isDone = text.includes('In short.');
      return Promise.resolve({ text: isDone ? 'done' : toolCall('note', { text: 'y'.repeat(7_000) }) });
    },
  });
  const agent = env.agent('unknown-window');
  await agent.start({ task: 'x', model: name });
  expect(await agent.result()).toMatchObject({ answer: 'done', usage: { inputTokens: 10 } });
  expect(asked.length).toBeGreaterThan(1);
  expect(asked.at(-1)).toBeLessThan(20);
});

test.each<[string, RawReply, RegExp]>([
  ['was refused', { text: 'I will not.', isRefusal: true }, /refused to sum up: I will not\./],
  ['was cut off', { text: 'The task is', isCut: true }, /summary was cut off/],
])(
  'a summary that %s replaces nothing, and its tokens are those of its turn',
  async (what, summary, reason) => {
    const name = model(
      (request) =>
        isSummary(request)
          ? { ...summary, usage: usage(5) }
          : {
              text: textsOf(request).includes('still there') ? 'yes' : toolCall('note', { text: 'z' }),
              usage: usage(850),
            },
      { window: 1_000 },
    );
    const agent = env.agent(what.replaceAll(' ', '-'));
    await agent.start({ mode: 'conversation', model: name });
    expect(await agent.send('go')).toMatchObject({
      reason: 'model_error',
      error: { code: 'model_failed', message: expect.stringMatching(reason) as string },
      usage: { inputTokens: 855 },
    });
    expect(await agent.send('still there?')).toMatchObject({ answer: 'yes' });
    const { messages } = await agent.transcript();
    expect(messages.map(({ role }) => role)).not.toContain('summary');
    await agent.stop();
  },
);

test('a summary whose provider fails in between is asked for again without the requests that were answered', async () => {
  const asked: number[] = [];
  const name = env.model({
    window: 10_000,
    reply: (request) => {
      const text = textsOf(request);
      if (!isSummary(request)) {
        const answer = text.includes('In short.') ? 'done' : toolCall('note', { text: 'z'.repeat(30_000) });
        return Promise.resolve({ text: answer, usage: usage(text.includes('In short.') ? 10 : 8_500) });
      }
      asked.push(Math.round(text.length / 1_000));
      if (asked.length === 1) return Promise.resolve({ text: 'The task', isCut: true, usage: usage(100) });
      if (asked.length > 3) return Promise.resolve({ text: 'In short.', usage: usage(1) });
      const fault = { model: 'm', got: 503, reason: 'it is away' };
      return Promise.reject(new HoldfastError('model_overloaded', fault));
    },
  });
  const agent = env.agent('away-in-between');
  await agent.start({ task: 'x', model: name });
  expect(await agent.result()).toMatchObject({ answer: 'done', usage: { inputTokens: 8_611 } });
  const [whole = 0, half = 0, ...others] = asked;
  expect(half).toBeLessThan(0.6 * whole);
  expect(others).toEqual([half, half]);
});

test('a turn of many steps continues as new: every step is run once, and nothing of it is lost', async () => {
  const steps = 190;
  const name = model(({ messages }) => {
    const n = messages.filter(({ role }) => role === 'assistant').length;
    return { text: n < steps ? toolCall('note', { text: `many ${n}` }) : 'all noted' };
  });
  const agent = env.agent('many-steps');
  await agent.start({ task: 'x', model: name, limits: { steps: 500 } });
  expect(await agent.result()).toMatchObject({ answer: 'all noted', steps: steps + 1 });
  expect(runs.filter((text) => text.startsWith('many '))).toEqual(
    Array.from({ length: steps }, (_, n) => `many ${n}`),
  );
  const first = await env.temporal.client.workflow.getHandle('agent/many-steps/turn/1').fetchHistory();
  expect(first.events?.length).toBeLessThan(2_000);
  expect((await agent.transcript(0, 1_000)).messages).toHaveLength(2 * steps + 2);
}, 90_000);

test('an agent with a long history continues as new between turns, summarises the excess, also after a rewind, and keeps its sub-agents until its stop', async () => {
  const id = 'moves-on';
  let last: ModelRequest | undefined;
  const child = env.model({ reply: ({ signal }) => delay(600_000, { text: 'late' }, { signal }) });
  const name = model((request, n) => {
    last = request;
    if (isSummary(request)) return { text: 'What came before.' };
    if (n === 0) return { text: toolCall('spawn_agent', { role: 'stays', prompt: 'x', model: child }) };
    return { text: `answer ${n}` };
  });
  const agent = env.agent(id);
  await agent.start({ mode: 'conversation', model: name });
  const { runId } = await agent.state();
  const large = 'x'.repeat(400_000);
  for (let n = 0; n < 12; n++) {
    expect(await agent.send(`message ${n} ${large}`)).toMatchObject({ reason: 'answered' });
    if (n === 1) await agent.workspace.rewind(2, { what: 'conversation' });
  }
  const { answer } = await agent.send('the last');
  const state = await agent.state();
  expect(state.runId).not.toBe(runId);
  expect(state).toMatchObject({ turns: 13, agents: [{ agentId: `${id}-stays-1`, status: 'running' }] });
  expect(answer).toMatch(/^answer \d+$/);
  expect(textsOf(last as ModelRequest)).toMatch(/What came before\.[^]*the last/);
  await agent.stop('enough');
  await agent.result();
  expect(await env.agent(`${id}-stays-1`).result()).toMatchObject({ reason: 'stopped' });
}, 90_000);

describe('a long conversation that cannot be summarised', () => {
  const large = 'x'.repeat(400_000);
  let last: ModelRequest | undefined;
  let failed = 0;
  let isAway = true;
  const away = (): never => {
    throw new HoldfastError('model_failed', { reason: 'it is away' });
  };
  async function begun(
    id: string,
    summary: () => RawReply = away,
  ): Promise<{ agent: AgentHandle; runId: string }> {
    [failed, isAway] = [0, true];
    const name = model((request) => {
      last = request;
      if (!isSummary(request)) return { text: 'heard' };
      if (!isAway) return { text: 'What came before.' };
      failed += 1;
      return summary();
    });
    const agent = env.agent(id);
    await agent.start({ mode: 'conversation', model: name });
    const { runId } = await agent.state();
    for (let n = 0; failed === 0 && n < 12; n++) await agent.send(`message ${n} ${large}`);
    return { agent, runId };
  }

  test('goes on whole, and is summarised after a later turn', async () => {
    const { agent, runId } = await begun('goes-on');
    await agent.send('in between');
    expect(textsOf(last as ModelRequest)).toMatch(/message 0 [^]*in between/);
    const refused = expect.arrayContaining([expect.stringContaining('it is away')]) as string[];
    expect(await agent.state()).toMatchObject({ runId, refused });
    isAway = false;
    await agent.send('almost the last');
    await until(async () => (await agent.ownState()).runId !== runId);
    await agent.send('the last');
    expect(textsOf(last as ModelRequest)).toMatch(/What came before\.[^]*the last/);
    await agent.stop();
    await agent.result();
  }, 90_000);

  test('is left to the earlier run, which it names, when its history has no more room', async () => {
    const { agent, runId } = await begun('left');
    for (let n = 0; (await agent.state()).runId === runId && n < 30; n++) await agent.send(`more ${large}`);
    await agent.send('the last');
    const text = textsOf(last as ModelRequest);
    expect(text).toContain(`could not be summarized. They are in the run ${runId}`);
    expect(text).not.toContain('message 0');
    await agent.stop();
    await agent.result();
  }, 90_000);

  test('has the longest summary that was cut off when its history has no more room, marked as that, and every request is in its usage', async () => {
    const { agent, runId } = await begun('cut', () => ({
      text: `The task is ${'x'.repeat(failed)}`,
      isCut: true,
      usage: usage(1),
    }));
    expect(textsOf(last as ModelRequest)).toContain('message 0');
    for (let n = 0; (await agent.state()).runId === runId && n < 30; n++) await agent.send(`more ${large}`);
    await agent.send('the last');
    const text = textsOf(last as ModelRequest);
    expect(text).toContain(`The task is ${'x'.repeat(failed)}\n\n[This summary was cut off`);
    expect(text).toContain(`in the run ${runId} of agent/cut.`);
    expect(text).not.toContain('message 0');
    expect((await agent.state()).usage).toMatchObject({ inputTokens: failed });
    await agent.stop();
    await agent.result();
  }, 90_000);
});

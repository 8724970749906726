// Turns whose model is a provider over HTTP: a real worker, a real server, a simulated provider that fails.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { followTokens } from '../../../client/agents/live-tokens';
import type { LiveToken } from '../../../contracts/models/live-tokens';
import { agentWorkflowId, turnWorkflowId } from '../../../contracts/ids';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { ModelSimulator, PLANTED_KEY } from '../../helpers/services/model-simulator';
import { until } from '../../helpers/until';
import { uniqueId } from '../../helpers/engines/temporal';

const engine = new EngineOfItsOwn();
const ending = new AbortController();
let simulator: ModelSimulator;

beforeAll(async () => {
  simulator = await ModelSimulator.start();
  const { url } = simulator;
  const provider = (name: string, wireApi: string, address: string): string =>
    `[model_providers.${name}]\nbase_url = "${address}"\nwire_api = "${wireApi}"\nenv_key = "SIMULATOR_KEY"\n`;
  engine.configure(
    provider('chat', 'chat', `${url}/v1`) +
      provider('responses', 'responses', `${url}/v1`) +
      provider('messages', 'anthropic', url) +
      '[models."chat:small"]\nwindow = 8000\nprices = { input = 1000, output = 1000 }\n',
  );
  await engine.startServer();
  await engine.startWorker({ env: { SIMULATOR_KEY: PLANTED_KEY } });
  await engine.start();
}, 60_000);
afterAll(async () => {
  ending.abort();
  const left = await engine.end();
  await simulator.stop();
  expect(left).toEqual([]);
}, 60_000);

interface Watcher {
  told: LiveToken[];
  /** Resolves when a worker knows of the watcher, for the first time or again. */
  watching(): Promise<void>;
  until(done: (told: LiveToken[]) => boolean): Promise<void>;
}

function watch(agent: string): Watcher {
  const { signal } = ending;
  const told: LiveToken[] = [];
  let connections = 0;
  let seen = 0;
  const waiting = new Set<() => void>();
  const wake = (): void => waiting.forEach((check) => check());
  const until = (done: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const check = (): void => {
        if (!done()) return;
        waiting.delete(check);
        resolve();
      };
      waiting.add(check);
      check();
    });
  const onWatching = (): void => {
    connections += 1;
    wake();
  };
  void (async () => {
    for await (const token of followTokens({ dataDir: engine.dataDir, agent, signal, onWatching })) {
      told.push(token);
      wake();
    }
  })();
  return {
    told,
    watching: () => until(() => connections > seen).then(() => void (seen += 1)),
    until: (done) => until(() => done(told)),
  };
}

/** What a watcher shows at the end. */
const shown = (told: readonly LiveToken[]): string =>
  told.reduce(
    (text, token) => (token.kind === 'text' ? text + token.text : token.kind === 'reset' ? '' : text),
    '',
  );

const limited = {
  status: 429,
  headers: { 'retry-after-ms': '20' },
  body: '{"error":{"message":"Slow down."}}',
};

test('a provider that answers 429 twice, then cuts the stream, then answers, gives one answer and no duplicate step', async () => {
  await Promise.all(['chat', 'responses', 'messages'].map(throughBadWeather));
}, 60_000);

async function throughBadWeather(provider: string): Promise<void> {
  const task = `hold fast over ${provider}`;
  const answer = 'It holds fast, in all weathers.';
  const pace = { chunkSize: 5, latency: 5 };
  const { mock, answers, requests } = simulator;
  mock.on({ userMessage: task, sequenceIndex: 0 }, { content: answer }, { ...pace, truncateAfterChunks: 7 });
  mock.on({ userMessage: task, sequenceIndex: 1 }, { content: answer }, pace);
  answers.push({ ...limited, to: task }, { ...limited, to: task });
  const id = uniqueId('weather');
  const watcher = watch(id);
  await watcher.watching();
  const agent = engine.client.agent(id);
  await agent.start({ task, model: `${provider}:small` });
  expect(await agent.result()).toMatchObject({ answer, reason: 'answered', steps: 1, error: null });
  expect(requests.filter(({ body }) => JSON.stringify(body).includes(task))).toHaveLength(4);
  expect((await agent.transcript()).messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
  await watcher.until((told) => told.at(-1)?.kind === 'end');
  const kinds = watcher.told.map(({ kind }) => kind);
  expect(kinds).toContain('text');
  expect(kinds.indexOf('reset', kinds.indexOf('text'))).toBeGreaterThan(0);
  expect(shown(watcher.told)).toBe(answer);
  const turn = engine.client.temporal.workflow.getHandle(turnWorkflowId(id, 1));
  const { events } = await turn.fetchHistory();
  const started = events?.flatMap(({ activityTaskStartedEventAttributes: at }) => (at ? [at.attempt] : []));
  expect(started).toEqual([4]);
}

test.each([
  [401, 'authentication_error', `Incorrect API key provided: ${PLANTED_KEY.slice(0, 12)}****`, 'model_auth'],
  [400, 'invalid_request_error', `No such thing; the key was ${PLANTED_KEY}`, 'model_bad_request'],
  [400, 'context_length_exceeded', 'Too many tokens.', 'model_context_length'],
])(
  '%i %s ends the turn at once, and the key is in no history and no log',
  async (status, code, message, expected) => {
    simulator.answers.push({ status, body: JSON.stringify({ error: { type: code, code, message } }) });
    const before = simulator.requests.length;
    const id = uniqueId('refused');
    const agent = engine.client.agent(id);
    await agent.start({ task: 'x', model: 'chat:small' });
    await expect(agent.result()).rejects.toMatchObject({ code: expected });
    expect(simulator.requests.length).toBe(before + 1);
    expect(simulator.requests.at(-1)?.headers.authorization).toBe(`Bearer ${PLANTED_KEY}`);
    const kept = [await historyOf(agentWorkflowId(id)), await historyOf(turnWorkflowId(id, 1)), logs()];
    expect(kept.join()).toContain(expected);
    for (const piece of [PLANTED_KEY, PLANTED_KEY.slice(0, 12), PLANTED_KEY.slice(-8)])
      expect(kept.filter((text) => text.includes(piece))).toEqual([]);
  },
);

test('a conversation that Anthropic calls too long is summed up, and the turn goes on with the summary', async () => {
  const said = (text: string): string =>
    JSON.stringify({ type: 'message', content: [{ type: 'text', text }], stop_reason: 'end_turn' });
  const message =
    'input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, decrease input length';
  const refused = JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message } });
  simulator.answers.push(
    { status: 200, body: said('So it begins.'), to: 'a long tale' },
    { status: 400, body: refused, to: 'and its end' },
    { status: 200, body: said('A tale was begun.'), to: 'You sum up' },
    { status: 200, body: said('The end.'), to: 'A tale was begun.' },
  );
  const agent = engine.client.agent(uniqueId('tale'));
  await agent.start({ task: 'a long tale', model: 'messages:small', mode: 'conversation' });
  expect(await agent.send('and its end')).toMatchObject({ answer: 'The end.', steps: 3 });
  const { messages } = await agent.transcript();
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'summary', 'assistant']);
  await agent.stop();
});

test.each(['chat', 'responses', 'messages'])(
  'over %s, a conversation goes on after the model called a tool by a name that no provider takes',
  async (provider) => {
    const task = `odd name over ${provider}`;
    const toolCalls = [{ name: 'multi_tool_use.parallel', arguments: '{}' }];
    simulator.mock.on({ userMessage: task, hasToolResult: false }, { toolCalls });
    simulator.mock.on({ userMessage: task, hasToolResult: true }, { content: 'I see.' });
    const agent = engine.client.agent(uniqueId('odd-name'));
    await agent.start({ task, model: `${provider}:small` });
    expect(await agent.result()).toMatchObject({ answer: 'I see.', steps: 2 });
  },
);

/** All of a history as text, with its payloads as they are beneath their base64. */
async function historyOf(workflowId: string): Promise<string> {
  const history = await engine.client.temporal.workflow.getHandle(workflowId).fetchHistory();
  const payloads: string[] = [];
  const text = JSON.stringify(history, (key, value: unknown) => {
    if (key === 'data' && typeof value === 'string') payloads.push(Buffer.from(value, 'base64').toString());
    return value;
  });
  return [text, ...payloads].join('\n');
}

const logs = (): string =>
  readdirSync(engine.dataDir)
    .filter((name) => name.endsWith('.log'))
    .map((name) => readFileSync(join(engine.dataDir, name), 'utf8'))
    .join('\n');

test('tokens, cost and window are on record for a model whose prices are configured', async () => {
  const usage = { prompt_tokens: 300, completion_tokens: 7 };
  simulator.mock.onMessage('count', { content: 'Counted.', usage });
  const agent = engine.client.agent(uniqueId('cost'));
  await agent.start({ task: 'count', model: 'chat:small' });
  await agent.result();
  const history = await historyOf(turnWorkflowId(agent.id, 1));
  for (const fact of ['"inputTokens":300', '"outputTokens":7', '"costUsd":0.307', '"window":8000'])
    expect(history).toContain(fact);
});

test('the next attempt waits as long as the provider says', async () => {
  const task = 'patience';
  simulator.answers.push({ ...limited, headers: { 'retry-after': '1800' }, to: task });
  const id = uniqueId('patience');
  const agent = engine.client.agent(id);
  await agent.start({ task, model: 'chat:small' });
  const turn = engine.client.temporal.workflow.getHandle(turnWorkflowId(id, 1));
  let seconds = 0;
  await until(async () => {
    const description = await turn.describe().catch(() => undefined);
    const [call] = description?.raw.pendingActivities ?? [];
    seconds = Number(call?.currentRetryInterval?.seconds);
    return call?.attempt === 2 && call.lastFailure?.applicationFailureInfo?.type === 'model_rate_limit';
  });
  expect(seconds).toBe(1_800);
  await agent.stop();
});

test('a watcher outlives the worker: half a reply is taken back, and the next one is followed', async () => {
  const task = 'outlive';
  const choices = [{ index: 0, delta: { role: 'assistant', content: 'half' }, finish_reason: null }];
  simulator.answers.push({
    status: 200,
    headers: { 'content-type': 'text/event-stream' },
    body: `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', choices })}\n\n`,
    hangs: true,
  });
  simulator.mock.on({ userMessage: task }, { content: 'whole' });
  simulator.mock.on({ userMessage: 'again' }, { content: 'followed' }, { chunkSize: 4 });
  const id = uniqueId('outlive');
  const watcher = watch(id);
  await watcher.watching();
  const agent = engine.client.agent(id);
  await agent.start({ task, model: 'chat:small', mode: 'conversation' });
  await watcher.until((told) => shown(told) === 'half');
  await engine.killWorker();
  await watcher.until((told) => told.at(-1)?.kind === 'reset');
  await engine.startWorker({ env: { SIMULATOR_KEY: PLANTED_KEY } });
  await watcher.watching();
  expect((await agent.send('again')).answer).toBe('followed');
  await watcher.until((told) => told.at(-1)?.kind === 'end' && shown(told).endsWith('followed'));
  const { messages } = await agent.transcript();
  expect(messages.flatMap((m) => (m.role === 'assistant' ? [m.parsed] : []))).toEqual([
    { kind: 'answer', answer: 'whole' },
    { kind: 'answer', answer: 'followed' },
  ]);
  await agent.stop();
}, 60_000);

test('`holdfast run` knows the configured providers, and says at once that a key is missing', async () => {
  const unknown = await engine.cliInTurn(['run', 'x', '--model', 'nobody:x']);
  expect(unknown).toMatchObject({ code: 78 });
  expect(unknown.stderr).toMatch(/allowed scripted:NAME, .*chat:NAME, responses:NAME, messages:NAME/);
  simulator.mock.onMessage('by hand', { content: 'Done by hand.' });
  // The worker has the key; this command line has none, and needs none.
  expect(await engine.cliInTurn(['run', 'by hand', '--model', 'messages:small'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Done by hand.') as string,
  });
  const elsewhere = new EngineOfItsOwn();
  const { code, stderr } = await elsewhere.cli([
    'run',
    'x',
    '--model',
    'chat:x',
    '--config',
    join(engine.dataDir, 'holdfast.toml'),
  ]);
  expect([code, readdirSync(elsewhere.dataDir)]).toEqual([77, []]);
  expect(stderr).toMatch(/model_auth: .*the variable SIMULATOR_KEY is not set/);
  await elsewhere.end();
}, 60_000);

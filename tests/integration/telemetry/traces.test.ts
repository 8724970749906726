// One trace from a request of the API to a command, to the call of a tool by its script, and back; whatever is killed.
import { randomBytes } from 'node:crypto';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { HoldfastClient } from '../../../client/holdfast-client';
import { packageRoot } from '../../../system/package-root';
import { workerPaths } from '../../../workers/process/worker-record';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { OtlpReceiver, type Received } from '../../helpers/services/otlp-receiver';
import { call, scratch, uniqueId, type Scratch } from '../../helpers/engines/temporal';
import { replayAll } from '../../helpers/engines/replay-all';
import { until } from '../../helpers/until';

const SECRET = 'planted-7f3a91-secret';
const engine = new EngineOfItsOwn();
const collector = new OtlpReceiver();
let files: Scratch;
let gateway: ChildProcess;
let api = '';
let token = '';
const tools = [join(packageRoot(), 'tests', 'fixtures', 'script-tools.mjs')];
const env = { PLANTED: SECRET, COLLECTOR: 'Bearer for-the-collector' };

beforeAll(async () => {
  files = scratch();
  const url = await collector.start();
  const lines = [
    `[telemetry]\notlp = "${url}"\nenv_otlp_headers = { Authorization = "COLLECTOR" }`,
    '[secrets]\nenv = ["PLANTED"]',
  ];
  engine.configure(lines.join('\n'));
  Object.assign(process.env, env);
  await engine.startServer();
  await engine.startWorker({ tools });
  await engine.connect();
  gateway = engine.spawnCli(['serve', '--listen', '127.0.0.1:0', '--json']);
  const said = createInterface({ input: gateway.stdout as Readable })[Symbol.asyncIterator]();
  api = (JSON.parse(String((await said.next()).value)) as { url: string }).url;
  const created = await engine.cliInTurn(['token', 'create', 'traces', '--role', 'operator', '--json']);
  token = (JSON.parse(created.stdout) as { token: string }).token;
}, 120_000);
afterAll(async () => {
  // Otherwise all that have spans left wait for the collector when they end.
  collector.mode = 'takes';
  const gone = once(gateway, 'exit');
  gateway.kill();
  await gone;
  files.remove();
  const left = await engine.end();
  await collector.end();
  expect(left).toEqual([]);
}, 60_000);

/** Starts an agent by the API as part of a trace of the caller's; returns the ids of that. */
async function start(agent: string, body: object): Promise<{ traceId: string; callerSpan: string }> {
  const [traceId, callerSpan] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  const answer = await fetch(`${api}/v1/agents`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Authorization: `Bearer ${token}`,
      traceparent: `00-${traceId}-${callerSpan}-01`,
    },
    body: JSON.stringify({ id: agent, ...body }),
  });
  if (!answer.ok) throw new Error(await answer.text());
  return { traceId, callerSpan };
}

/** From the span up to its root, by name. */
function pathOf(span: Received, all: readonly Received[]): string[] {
  const parent = all.find(({ spanId }) => spanId === span.parentSpanId);
  return [span.name, ...(parent ? pathOf(parent, all) : [])];
}
const named = (all: readonly Received[], name: string): Received => {
  const found = all.find((span) => span.name === name);
  if (!found) throw new Error(`no ${name} among ${all.map((span) => span.name).join(', ')}`);
  return found;
};
/** Spans whose parent was not reported. */
const gaps = (all: readonly Received[], root: string): string[] =>
  all
    .filter(({ parentSpanId }) => parentSpanId !== root && !all.some(({ spanId }) => spanId === parentSpanId))
    .map(({ name }) => name);

const SCRIPT = `echo {{secret:PLANTED}} | wc -c; echo "parent=$TRACEPARENT"; tool echo --json '{"value": "${SECRET}"}'`;

test('a request, its turn, model calls, command and script call are one trace without gaps', async () => {
  const agent = uniqueId('traced');
  const usage = { inputTokens: 100, outputTokens: 7, costUsd: 0.25 };
  const { traceId, callerSpan } = await start(agent, {
    task: `use ${SECRET}`,
    ...files.settings([
      { text: call('exec_command', { cmd: SCRIPT }), usage },
      { text: call('response', { text: `done ${SECRET}` }), usage },
    ]),
  });
  await engine.client.agent(agent).result();
  await until(() => collector.inTrace(traceId).some(({ name }) => name === 'command terminal'));
  await until(() => collector.inTrace(traceId).some(({ name }) => name === 'invoke_agent'));
  await until(() => gaps(collector.inTrace(traceId), callerSpan).length === 0);
  const all = collector.inTrace(traceId);
  expect(pathOf(named(all, `chat ${chatName(all)}`), all)).toEqual([
    `chat ${chatName(all)}`,
    'callModel',
    'invoke_agent',
    'POST /v1/agents',
  ]);
  expect(pathOf(named(all, 'execute_tool echo'), all)).toEqual([
    'execute_tool echo',
    'update toolCall',
    'command terminal',
    'runCommand',
    'update exec',
    'execute_tool exec_command',
    'invoke_agent',
    'POST /v1/agents',
  ]);
  expect(named(all, 'POST /v1/agents')).toMatchObject({
    parentSpanId: callerSpan,
    service: 'holdfast-gateway',
  });
  expect(named(all, `chat ${chatName(all)}`).attributes).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'scripted',
    'gen_ai.usage.input_tokens': 100,
    'gen_ai.usage.output_tokens': 7,
  });
  expect(named(all, 'command terminal').attributes).toMatchObject({ 'process.exit.code': 0 });
  for (const { startMs, endMs } of all) expect(endMs).toBeGreaterThanOrEqual(startMs);
}, 120_000);

const chatName = (all: readonly Received[]): string =>
  all.find(({ name }) => name.startsWith('chat '))?.name.slice('chat '.length) ?? 'none';

test('programs of a command find its span in TRACEPARENT', async () => {
  const agent = uniqueId('parent');
  const { traceId } = await start(agent, {
    task: 'hello',
    ...files.settings([
      { text: call('exec_command', { cmd: 'echo "parent=$TRACEPARENT"' }) },
      { text: call('response', { text: 'done' }) },
    ]),
  });
  await engine.client.agent(agent).result();
  await until(() => collector.inTrace(traceId).some(({ name }) => name === 'command terminal'));
  const { spanId } = named(collector.inTrace(traceId), 'command terminal');
  const { messages } = await engine.client.agent(agent).page({ from: 0, limit: 10 });
  expect(JSON.stringify(messages)).toContain(`parent=00-${traceId}-${spanId}-01`);
}, 60_000);

test('a worker that is killed leaves no gap: the command has its span, under the same parents', async () => {
  const agent = uniqueId('killed');
  const { traceId, callerSpan } = await start(agent, {
    task: 'hello',
    ...files.settings([
      {
        text: call('exec_command', {
          cmd: 'touch begun; until [ -e go ]; do sleep 0.1; done; tool echo --json \'{"value": 1}\'',
        }),
      },
      { text: call('response', { text: 'done' }) },
    ]),
    yield: { firstOutputMs: 600_000, betweenOutputMs: 600_000, maxMs: 600_000, promptMs: 600_000 },
  });
  await until(() => existsSync(join(files.directory, 'begun')));
  // Spans that have ended are sent a moment later, in their order, and those that a killed worker has not sent are gone. So
  // all of this trace are there once one is that began after them.
  const { traceId: later } = await start(uniqueId('later'), {
    task: 'hello',
    ...files.settings([{ text: call('response', { text: 'done' }) }]),
  });
  await until(() => collector.inTrace(later).some(({ name }) => name === 'callModel'));
  await engine.killWorker();
  await engine.startWorker({ tools });
  writeFileSync(join(files.directory, 'go'), '');
  await engine.client.agent(agent).result();
  const names = (): string[] => collector.inTrace(traceId).map(({ name }) => name);
  await until(() =>
    ['invoke_agent', 'command terminal', 'update toolCall'].every((name) => names().includes(name)),
  );
  await until(() => gaps(collector.inTrace(traceId), callerSpan).length === 0);
  const all = collector.inTrace(traceId);
  expect(pathOf(named(all, 'execute_tool echo'), all)).toEqual([
    'execute_tool echo',
    'update toolCall',
    'command terminal',
    'runCommand',
    'update exec',
    'execute_tool exec_command',
    'invoke_agent',
    'POST /v1/agents',
  ]);
}, 120_000);

test('a later message of the API begins a turn in its own trace', async () => {
  const agent = uniqueId('talks');
  const { model } = files.settings([
    { text: call('response', { text: 'a' }) },
    { text: call('response', { text: 'b' }) },
  ]);
  await start(agent, { model, task: 'one', mode: 'conversation' });
  await until(() =>
    engine.client
      .agent(agent)
      .state()
      .then(
        ({ turns, status }) => turns === 1 && status === 'idle',
        () => false,
      ),
  );
  const traceId = randomBytes(16).toString('hex');
  const answer = await fetch(`${api}/v1/agents/${agent}/messages`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Authorization: `Bearer ${token}`,
      traceparent: `00-${traceId}-${'1'.repeat(16)}-01`,
    },
    body: JSON.stringify({ message: 'two' }),
  });
  expect(answer.ok).toBe(true);
  await until(() => collector.inTrace(traceId).some(({ name }) => name === 'invoke_agent'));
  await until(() => gaps(collector.inTrace(traceId), '1'.repeat(16)).length === 0);
}, 60_000);

test('a program begins a trace with what it sends, and the turn is its root', async () => {
  const { address } = engine.server();
  const choice = { address, namespace: engine.namespace, startsTraces: true };
  const client = await HoldfastClient.connect(choice, {});
  const agent = uniqueId('program');
  const { model } = files.settings([{ text: call('response', { text: 'a' }) }]);
  await client.agent(agent).start({ task: 'hello', model });
  await client.agent(agent).result();
  await client.close();
  const root = (): Received | undefined =>
    collector.spans.find(({ attributes }) => attributes['gen_ai.agent.id'] === agent);
  await until(() => root() !== undefined);
  expect(root()).toMatchObject({ name: 'invoke_agent', parentSpanId: undefined, service: 'holdfast-worker' });
}, 60_000);

test('histories with traces replay, and so does the same work without one', async () => {
  const agent = uniqueId('plain');
  const { model } = files.settings([{ text: call('response', { text: 'a' }) }]);
  await engine.client.agent(agent).start({ task: 'hello', model });
  await engine.client.agent(agent).result();
  const { workflows, failed } = await replayAll(engine.client);
  expect(failed).toEqual([]);
  expect(workflows).toBeGreaterThan(10);
}, 60_000);

test('metrics go to the collector, too', async () => {
  await until(() => collector.paths.has('/v1/metrics'));
  await until(() => collector.raw.includes('holdfast_turns'));
}, 60_000);

test('what was said is not in any span: no secret, no prompt, no answer, no code', () => {
  expect(collector.spans.length).toBeGreaterThan(30);
  expect(collector.raw).not.toContain(SECRET);
  expect(collector.raw).not.toContain('until [ -e go ]');
  expect(collector.authorizations).toEqual(new Set([env.COLLECTOR]));
});

test.each(['refuses', 'hangs'] as const)(
  'a collector that %s delays nothing and fails nothing',
  async (mode) => {
    const failures = (): number =>
      readFileSync(workerPaths(engine.dataDir).log, 'utf8').split('traces could not be exported').length;
    const before = failures();
    collector.mode = mode;
    const agent = uniqueId(mode);
    await start(agent, {
      task: 'hello',
      ...files.settings([
        { text: call('exec_command', { cmd: 'echo works' }) },
        { text: call('response', { text: 'done' }) },
      ]),
    });
    expect(await engine.client.agent(agent).result()).toMatchObject({ answer: 'done', reason: 'answered' });
    await until(() => failures() > before);
  },
  120_000,
);

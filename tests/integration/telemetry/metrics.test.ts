// What a used worker and a used gateway report: all metrics of docs/metrics.md and no other; and what the shipped board and
// alerts make of it in a real Prometheus.
import { execFileSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { METRICS, type MetricFacts } from '../../../contracts/telemetry/metrics';
import { packageRoot } from '../../../system/package-root';
import { workerPaths } from '../../../workers/process/worker-record';
import { freePort } from '../../helpers/free-port';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { noPrometheus, Prometheus, samplesIn, SHIPPED, type Sample } from '../../helpers/services/prometheus';
import { call, QUICK_YIELD, scratch, type Scratch } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';
import { pathOf } from '../../helpers/run/programs';

const engine = new EngineOfItsOwn();
let files: Scratch;
let ports: { worker: number; gateway: number };
let gateway: ChildProcess | undefined;
let gatewayUrl = '';
const tools = [join(packageRoot(), 'tests', 'fixtures', 'script-tools.mjs')];

beforeAll(async () => {
  files = scratch();
  ports = { worker: await freePort(), gateway: await freePort() };
  const lines = [
    ...['[telemetry]', 'look_every_sec = 0.5'],
    ...[`prometheus = "127.0.0.1:${ports.worker}"`, `prometheus_gateway = "127.0.0.1:${ports.gateway}"`],
    '[model_providers.absent]\nbase_url = "http://127.0.0.1:9/v1"',
  ];
  engine.configure(lines.join('\n'));
  await engine.start({ tools });
  await use();
}, 120_000);
afterAll(async () => {
  const gone = gateway && once(gateway, 'exit');
  gateway?.kill();
  await gone;
  files.remove();
  expect(await engine.end()).toEqual([]);
}, 60_000);

/** Something of everything that is counted. */
async function use(): Promise<void> {
  const usage = { inputTokens: 100, outputTokens: 7, costUsd: 0.25 };
  const settings = files.settings([
    { text: call('exec_command', { cmd: 'tool echo --json \'{"value": 1}\'' }), usage },
    { text: call('no_such_tool', {}) },
    { text: call('response', { text: 'done' }), usage },
  ]);
  await engine.client.agent('used').start({ task: 'hello', ...settings });
  await engine.client.agent('used').result();
  await engine.client.agent('absent').start({ task: 'hello', model: 'absent:x' });
  await engine.client
    .session({ agent: 'asks', session: 0 }, { yield: QUICK_YIELD })
    .exec({ code: 'read answer' });
  await engine.client.session({ agent: 'asks', session: 1 }).exec({ code: 'exit 3' });
  gateway = engine.spawnCli(['serve', '--listen', '127.0.0.1:0', '--json']);
  const lines = createInterface({ input: gateway.stdout as Readable })[Symbol.asyncIterator]();
  gatewayUrl = (JSON.parse(String((await lines.next()).value)) as { url: string }).url;
  for (let requests = 0; requests < 3; requests += 1) await fetch(`${gatewayUrl}/v1/agents`);
}

const scrape = async (port: number): Promise<Map<string, Sample[]>> =>
  samplesIn(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text());
async function scrapeAll(): Promise<Map<string, Sample[]>> {
  const [worker, ofGateway] = [await scrape(ports.worker), await scrape(ports.gateway)];
  for (const [name, samples] of ofGateway) worker.set(name, [...(worker.get(name) ?? []), ...samples]);
  return worker;
}
/** The value of the sample with these labels, whatever else it has; undefined if there is none. */
async function value(name: string, labels: Record<string, string> = {}): Promise<number | undefined> {
  const samples = (await scrapeAll()).get(name) ?? [];
  return samples.find((one) => Object.entries(labels).every(([key, text]) => one.labels[key] === text))
    ?.value;
}
const untilIs = (expected: number, name: string, labels: Record<string, string> = {}): Promise<void> =>
  until(async () => (await value(name, labels)) === expected);

/** Labels that the SDK adds. */
const OF_SDK = ['namespace', 'taskQueue', 'workflowType', 'activityType', 'le'];

test('each metric of the table is told, with its labels, and no other of ours', async () => {
  await untilIs(1, 'holdfast_waits', { reason: 'input' });
  const told = new Map<string, Set<string>>();
  for (const [name, samples] of await scrapeAll()) {
    if (!name.startsWith('holdfast_')) continue;
    const base = name.replace(/_(bucket|sum|count)$/, '');
    const known = told.get(base) ?? new Set();
    for (const { labels } of samples) for (const label of Object.keys(labels)) known.add(label);
    told.set(base, known);
  }
  const shown = Object.fromEntries(
    [...told].map(([name, labels]) => [name, [...labels].filter((label) => !OF_SDK.includes(label)).sort()]),
  );
  const expected = Object.entries<MetricFacts>(METRICS).map(([name, { kind, labels }]) => [
    kind === 'counter' ? `${name}_total` : name,
    [...labels].sort(),
  ]);
  expect(shown).toEqual(Object.fromEntries(expected));
}, 60_000);

test('what happened is counted once, and what waits is told with its age', async () => {
  const model = files.model([]).replace(/replies-\d+/, 'replies-1');
  expect(await value('holdfast_turns_total', { outcome: 'answered' })).toBe(1);
  expect(await value('holdfast_tokens_total', { model, type: 'input' })).toBe(200);
  expect(await value('holdfast_tokens_total', { model, type: 'output' })).toBe(14);
  expect(await value('holdfast_model_call_cost_dollars_sum', { model })).toBe(0.5);
  expect(await value('holdfast_tool_calls_total', { tool: 'echo', caller: 'script', outcome: 'ok' })).toBe(1);
  expect(await value('holdfast_tool_calls_total', { tool: 'exec_command', outcome: 'ok' })).toBe(1);
  expect(await value('holdfast_commands_total', { outcome: 'failed' })).toBe(1);
  expect(await value('holdfast_http_requests_total', { route: '/v1/agents', status: '401' })).toBe(3);
  await untilIs(1, 'holdfast_agents', { state: 'working' });
  await untilIs(1, 'holdfast_model_retries');
  await until(async () => ((await value('holdfast_wait_oldest_seconds', { reason: 'input' })) ?? 0) > 0);
  await until(async () => ((await value('holdfast_model_retry_oldest_seconds')) ?? 0) > 0);
  expect(await value('holdfast_holders', { host: 'local' })).toBeGreaterThanOrEqual(1);
}, 60_000);

test('tools that nobody has are counted under one label, whatever name is asked for', async () => {
  const samples = (await scrapeAll()).get('holdfast_tool_calls_total') ?? [];
  expect(samples.map(({ labels }) => labels.tool)).not.toContain('no_such_tool');
  expect(await value('holdfast_tool_calls_total', { tool: 'unknown', outcome: 'unknown_tool' })).toBe(1);
});

const missing = noPrometheus();
(missing === undefined ? describe : describe.skip)(
  `in Prometheus${missing === undefined ? '' : ` (not checked: ${missing})`}`,
  () => {
    const prometheus = new Prometheus();
    beforeAll(
      () =>
        prometheus.start({
          holdfast: `127.0.0.1:${ports.worker}`,
          'holdfast-gateway': `127.0.0.1:${ports.gateway}`,
        }),
      60_000,
    );
    afterAll(() => prometheus.end());

    test('each expression of the board has a result', async () => {
      const page = readFileSync(join(packageRoot(), 'deploy', 'grafana', 'holdfast.json'), 'utf8');
      const { panels } = JSON.parse(page) as {
        panels: { title: string; type: string; targets?: { expr: string }[] }[];
      };
      const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
      expect(expressions.length).toBeGreaterThan(30);
      await until(async () => (await prometheus.query('sum(up)')).at(0)?.value[1] === '2');
      for (const expression of expressions) {
        const asked = expression.replaceAll('$__rate_interval', '1m');
        await until(async () => (await prometheus.query(asked)).length > 0).catch(() => {
          throw new Error(`no result: ${asked}`);
        });
      }
    }, 120_000);

    test('each alert is evaluated without error, and none of its metrics is unknown', async () => {
      await until(async () => (await prometheus.rules()).every(({ health }) => health === 'ok'));
      const rules = await prometheus.rules();
      expect(rules.length).toBeGreaterThan(10);
      const known = new Set((await scrapeAll()).keys());
      const named = new Set(rules.flatMap(({ query }) => query.match(/\b(holdfast|temporal)_\w+/g) ?? []));
      // Reported from the first failure on.
      known.add('temporal_workflow_task_execution_failed_total');
      expect([...named].filter((name) => !known.has(name))).toEqual([]);
    }, 60_000);

    test('promtool takes the rules and the configuration, and each alert is raised when it is meant to be', () => {
      const promtool = (...args: string[]): string =>
        execFileSync(pathOf('promtool'), args, { cwd: SHIPPED, encoding: 'utf8' });
      expect(promtool('check', 'config', 'prometheus.yml')).toContain('SUCCESS');
      expect(promtool('test', 'rules', 'holdfast.rules.test.yml')).toContain('SUCCESS');
    }, 60_000);
  },
);

test('a port that is taken costs the metrics and no work; the next worker tells what it took over', async () => {
  await engine.client
    .session({ agent: 'asks', session: 2 })
    .exec({ code: 'sleep 600 & wait', yield: { maxMs: 300 } });
  await engine.killWorker();
  const taken = createServer().listen(ports.worker, '127.0.0.1');
  await once(taken, 'listening');
  await engine.startWorker({ tools });
  const { output } = await engine.client.session({ agent: 'asks', session: 3 }).exec({ code: 'echo works' });
  expect(output).toContain('works');
  expect(readFileSync(workerPaths(engine.dataDir).log, 'utf8')).toContain('metrics are not offered');
  await engine.killWorker();
  taken.close();
  await once(taken, 'close');
  await engine.startWorker({ tools });
  await until(async () => ((await value('holdfast_recovered', { what: 'command' })) ?? 0) >= 2);
}, 120_000);

// What operators see of the processes: their log, their probes, and how they stop.
import { once } from 'node:events';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Client } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time';
import { HoldfastClient } from '../../../client/holdfast-client';
import { SEARCH_ATTRIBUTE_TYPES } from '../../../contracts/messages';
import { packageRoot } from '../../../system/package-root';
import { runningWorker } from '../../../workers/process/worker-record';
import { registerSearchAttributes } from '../../../workers/search-attributes';
import { freePort } from '../../helpers/free-port';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { gatewayOn } from '../../helpers/gateway/gateway';
import { call, scratch, uniqueId } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const MODULE = join(packageRoot(), 'tests', 'fixtures', 'journal-tools.mjs');
const SECRET = 'correct-horse-battery';

const engine = new EngineOfItsOwn({ ownServer: true });
const files = scratch();
beforeAll(async () => {
  await engine.startServer();
  const secrets = join(engine.dataDir, 'secrets.toml');
  writeFileSync(secrets, `PASSWORD = "${SECRET}"\n`, { mode: 0o600 });
  chmodSync(secrets, 0o600);
  engine.configure('[secrets]\nfile = "secrets.toml"\n[log]\nlevel = "trace"\n');
  await engine.start({ tools: [MODULE] });
}, 60_000);
afterAll(async () => {
  const left = await engine.end();
  files.remove();
  expect(left).toEqual([]);
}, 60_000);

type Line = Record<string, unknown>;
const logged = (): string => readFileSync(join(engine.dataDir, 'worker.log'), 'utf8');
const linesOf = (text: string): Line[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);

test('the log is one JSON line an event, and says of an agent which commands and turns ended, and how', async () => {
  const id = uniqueId('logged');
  const agent = engine.client.agent(id);
  const run = {
    text: call('code_execution_tool', { runtime: 'terminal', session: 0, code: 'echo one; exit 3' }),
  };
  await agent.start({ task: 'x', model: files.model([run, { text: 'done' }]) });
  await agent.result();
  const of = (): Line[] => linesOf(logged()).filter((line) => line.agent === id);
  await until(() => of().some(({ message }) => message === 'agent ended'));
  expect(of()).toContainEqual(expect.objectContaining({ message: 'command ended', session: 0, exitCode: 3 }));
  expect(of()).toContainEqual(
    expect.objectContaining({ message: 'turn ended', turn: 1, reason: 'answered', steps: 2 }),
  );
  const { stdout } = await engine.cliInTurn(['logs', id]);
  expect(stdout).toContain(`agent ${id} turn 1: turn ended reason=answered`);
  const asWritten = linesOf((await engine.cliInTurn(['logs', id, '--json', '--tail', '1'])).stdout);
  expect(asWritten).toEqual([expect.objectContaining({ agent: id })]);
  expect((await engine.cliInTurn(['logs', 'nobody'])).stderr).toContain('Nothing about agent nobody');
}, 60_000);

test('what a command is, prints and reads, what people and models say, and secrets are in no log, even if it fails', async () => {
  const session = engine.client.session({ agent: uniqueId('quiet'), session: 0 });
  const from = logged().length;
  const asked = await session.exec({ code: 'echo said-1; read line; echo "heard $line"' });
  expect(asked.output).toContain('said-1');
  await session.input({ keyboard: 'typed-2' });
  await session.exec({ code: 'test {{secret:PASSWORD}} = x || echo failed-3 >&2; exit 1' });
  await session.exec({ code: 'echo "unclosed-4' }).catch(() => undefined);
  const id = uniqueId('quiet');
  await engine.client
    .agent(id)
    .start({ task: 'task-5', model: files.model([{ text: call('no_such', { x: 'argument-6' }) }]) });
  await engine.client
    .agent(id)
    .result()
    .catch(() => undefined);
  await until(() => logged().slice(from).includes('"agent ended"'));
  const said = logged().slice(from);
  for (const word of ['said-1', 'typed-2', 'failed-3', 'unclosed-4', 'task-5', 'argument-6', SECRET])
    expect(said).not.toContain(word);
}, 60_000);

async function probe(url: string, headers: Record<string, string> = {}): Promise<[number, Line]> {
  const answer = await fetch(url, { headers });
  return [answer.status, (await answer.json()) as Line];
}

test('worker and gateway are healthy and not ready while the Temporal server hangs, and ready again after it', async () => {
  const port = await freePort();
  const worker = engine.spawnCli([
    'worker',
    ...place(),
    '--agents-only',
    '--queue',
    'probed',
    '--data',
    files.directory,
    '--probes',
    `127.0.0.1:${port}`,
  ]);
  const gateway = await gatewayOn(engine);
  const bases = [`http://127.0.0.1:${port}`, gateway.url];
  const areReady = async (): Promise<boolean> => {
    const answers = await Promise.all(bases.map((base) => probe(`${base}/readyz`).catch(() => [0])));
    return answers.every(([status]) => status === 200);
  };
  await until(areReady);
  const { pid } = engine.server().identity;
  process.kill(pid, 'SIGSTOP');
  try {
    for (const base of bases) {
      await until(async () => (await probe(`${base}/readyz`))[0] === 503);
      const [, { reason }] = await probe(`${base}/readyz`);
      expect(reason).toMatch(/^the Temporal server at .* does not answer/);
      expect(await probe(`${base}/healthz`)).toEqual([200, { ok: true }]);
    }
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  await until(areReady);
  worker.kill('SIGTERM');
  expect(await once(worker, 'exit')).toEqual([0, null]);
  await gateway.close();
}, 60_000);

const place = (): string[] => ['--address', engine.server().address, '--namespace', engine.namespace];

test('a drain that is longer than a timer may be is refused: it would end at once', async () => {
  const { code, stderr } = await engine.cliInTurn(['worker', '--drain', '25d']);
  expect([code, stderr]).toEqual([
    64,
    expect.stringContaining('--drain is invalid: got 25d, allowed up to 24d'),
  ]);
});

test('a worker that is told to stop lets a call end that must not run twice, and takes no new one', async () => {
  const data = join(files.directory, 'drained');
  const journal = join(files.directory, 'journal');
  const port = await freePort();
  const worker = engine.spawnCli([
    'worker',
    ...place(),
    '--agents-only',
    '--queue',
    'drained',
    '--data',
    data,
    '--tools',
    MODULE,
    '--probes',
    `127.0.0.1:${port}`,
    '--drain',
    '30s',
  ]);
  const client = new HoldfastClient(engine.client.temporal, engine.client.address, { queue: 'drained' });
  const agent = client.agent(uniqueId('drained'));
  const slow = { text: call('write_once', { file: journal, ms: 4_000 }) };
  await agent.start({ task: 'x', model: files.model([slow, { text: 'done' }]) });
  const journalOf = (): string => {
    try {
      return readFileSync(journal, 'utf8');
    } catch {
      return '';
    }
  };
  await until(() => journalOf() !== '');
  worker.kill('SIGTERM');
  await until(async () => (await probe(`http://127.0.0.1:${port}/readyz`))[0] === 503);
  expect((await probe(`http://127.0.0.1:${port}/readyz`))[1]).toMatchObject({ reason: 'it is stopping' });
  await once(worker, 'exit');
  const next = engine.spawnCli([
    'worker',
    ...place(),
    '--agents-only',
    '--queue',
    'drained',
    '--data',
    data,
    '--tools',
    MODULE,
  ]);
  expect(await agent.result()).toMatchObject({ reason: 'answered' });
  const { messages } = await agent.transcript();
  expect(messages.filter(({ role }) => role === 'tool')).toMatchObject([
    { content: expect.stringContaining('written') as string, isError: false },
  ]);
  expect(journalOf()).toBe('write_once 1\n');
  const turn = client.temporal.workflow.getHandle(`${agent.workflowId}/turn/1`);
  const starts = ((await turn.fetchHistory()).events ?? []).flatMap(
    ({ activityTaskStartedEventAttributes: started }) => started?.identity ?? [],
  );
  // The model was asked twice: the last time by the next worker.
  expect(starts.filter((identity) => identity.startsWith(`${worker.pid}@`))).toHaveLength(2);
  expect(starts.at(-1)).toMatch(new RegExp(`^${next.pid}@`));
  next.kill('SIGTERM');
  await once(next, 'exit');
}, 90_000);

test('a data folder has one worker: one in the foreground is refused beside another', async () => {
  const { code, stderr } = await engine.cli(['worker', ...place()]);
  expect(code).toBe(75);
  expect(stderr).toContain('worker_running');
  expect(runningWorker(engine.dataDir)).toBeDefined();
}, 60_000);

/** How often the server has asked its database, by what it asked. */
async function databaseRequests(): Promise<Map<string, number>> {
  // `fetch` refuses the port, as browsers do.
  const asked = get(`http://127.0.0.1:${engine.server().metricsPort}/metrics`);
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  const counts = new Map<string, number>();
  for (const [, operation = '', count] of (await text(response)).matchAll(
    /^persistence_requests\{.*?operation="(\w+)".*\} (\d+)$/gm,
  ))
    counts.set(operation, (counts.get(operation) ?? 0) + Number(count));
  return counts;
}

test('to list agents the server does not read its own configuration from the database for each of them', async () => {
  const [agents, lists] = [3, 40];
  for (let agent = 0; agent < agents; agent++)
    await engine.client.agent(uniqueId('listed')).start({ mode: 'conversation', model: files.model([]) });
  const listed = async (): Promise<number> => {
    const ids = new Set<string>();
    for await (const { id } of engine.client.agents.list()) ids.add(id);
    return ids.size;
  };
  await until(async () => (await listed()) >= agents);
  const before = await databaseRequests();
  for (let list = 0; list < lists; list++) await listed();
  const after = await databaseRequests();
  for (const operation of ['GetNamespace', 'GetCurrentClusterMetadata'])
    expect((after.get(operation) ?? 0) - (before.get(operation) ?? 0)).toBeLessThan(lists);
});

test('search attributes can be used once they are registered, although a server keeps what it knew of a namespace', async () => {
  const { connection, workflowService } = engine.client.temporal;
  const namespace = uniqueId('young');
  await workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: msToTs('24 hours'),
  });
  const { workflow } = new Client({ connection, namespace });
  await until(() =>
    workflow.count().then(
      () => true,
      () => false,
    ),
  );
  await registerSearchAttributes(new Client({ connection, namespace }));
  const query = Object.keys(SEARCH_ATTRIBUTE_TYPES).map((name) => `${name} IS NULL`);
  expect(await workflow.count(query.join(' AND '))).toMatchObject({ count: 0 });
});

test('`up` and `host serve` begin no shells among what Holdfast keeps, and the worker that runs stays', async () => {
  const before = runningWorker(engine.dataDir);
  const serving = ['host', 'serve', 'other', '--data', engine.dataDir, '--address', engine.server().address];
  for (const args of [['up', '--workdir', engine.dataDir], serving]) {
    const { code, stderr } = await engine.cli(args, { cwd: engine.dataDir });
    expect([code, stderr]).toEqual([
      64,
      expect.stringContaining('invalid_input: The folder that shells begin in'),
    ]);
  }
  expect(runningWorker(engine.dataDir)).toEqual(before);
}, 60_000);

// Payload encryption on a real server: its own engine, because its worker has keys.
import { randomBytes } from 'node:crypto';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import type { WaitingApproval } from '../../../client/agents/approval-desk';
import { HoldfastClient } from '../../../client/holdfast-client';
import { agentWorkflowId } from '../../../contracts/ids';
import { WORKFLOWS } from '../../../contracts/messages';
import { encryptedPayloads, encryptingCodec } from '../../../encryption/data-converter';
import type { KeySource } from '../../../encryption/encryption-settings';
import { replayHistories } from '../../../testing/replay';
import { EndedAgents } from '../../../workers/agents/ended-agents';
import { bytesIn } from '../../helpers/engines/bytes-in';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { call, scratch, type Scratch } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const CANARY = 'canary-7f3a-in-the-clear';
/** In ids, which are never encrypted: it shows that the search works. */
const CONTROL = 'control-7f3a';

const engine = new EngineOfItsOwn({ ownServer: true });
const keyFile = (id: string): string => join(engine.dataDir, `${id}.key`);
const OLD = { id: 'old', file: keyFile('old') };
const NEW = { id: 'new', file: keyFile('new') };
let files: Scratch;
let client: HoldfastClient;
const stopping: (() => void)[] = [];

function configure(keys: KeySource[], more = ''): void {
  const lines = keys.map((key) => `{ id = "${key.id}", file = "${key.id}.key" }`);
  const toml = `[encryption]\nkeys = [${lines.join(', ')}]\nrequired = true\n${more}\n[policy.agents]\nasked = "ask"\n`;
  engine.configure(toml);
}

const connect = (keys: KeySource[]): Promise<HoldfastClient> =>
  HoldfastClient.connect(
    { address: engine.server().address, dataConverter: encryptedPayloads({ keys, required: true }) },
    {},
  );

beforeAll(async () => {
  files = scratch();
  for (const id of ['old', 'new', 'other'])
    writeFileSync(keyFile(id), randomBytes(32).toString('base64'), { mode: 0o600 });
  configure([OLD]);
  await engine.start();
  client = await connect([OLD, NEW]);
}, 60_000);
afterAll(async () => {
  for (const stop of stopping) stop();
  await client.close();
  const left = await engine.end();
  files.remove();
  expect(left).toEqual([]);
}, 60_000);

test('the sessions of a terminated agent are closed, or kept if its encrypted input says so', async () => {
  const { temporal } = client;
  const look = (): Promise<void> =>
    new EndedAgents({ agents: temporal, sessions: temporal, log: () => undefined }).look();
  const session = async (id: string, keep: boolean): Promise<ReturnType<HoldfastClient['session']>> => {
    await client.agent(id).start({ mode: 'conversation', keep, model: files.model([]) });
    const opened = client.session({ agent: id, session: 0 });
    await opened.exec({ code: 'true' });
    await temporal.workflow.getHandle(agentWorkflowId(id)).terminate('gone');
    return opened;
  };
  const [kept, closed] = [await session('keeps-sealed', true), await session('closes-sealed', false)];
  await look();
  await closed.closed();
  expect(await closed.state()).toMatchObject({ status: 'closed' });
  expect(await kept.state()).toMatchObject({ status: 'idle' });
  await kept.close('done');
});

const exec = (args: object): string => call('code_execution_tool', args);
const plain = (value: unknown): Payload => defaultPayloadConverter.toPayload(value);

async function signalRaw(workflowId: string, signalName: string, ...payloads: Payload[]): Promise<void> {
  await client.temporal.workflowService.signalWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId },
    signalName,
    ...(payloads.length > 0 && { input: { payloads } }),
  });
}

const historyOf = (
  workflowId: string,
): ReturnType<ReturnType<HoldfastClient['temporal']['workflow']['getHandle']>['fetchHistory']> =>
  client.temporal.workflow.getHandle(workflowId).fetchHistory();

/** The worker's error when it refused a workflow's task. */
async function refusalIn(workflowId: string): Promise<string> {
  let failure: Payload | null | undefined;
  await until(async () => {
    const { events } = await historyOf(workflowId);
    const failed = events?.find(({ workflowTaskFailedEventAttributes: task }) => task);
    failure = failed?.workflowTaskFailedEventAttributes?.failure?.encodedAttributes;
    return Boolean(failure);
  });
  const codec = encryptingCodec({ keys: [NEW, OLD] }, {});
  const [opened] = await codec.open([failure as Payload], { namespace: undefined });
  return defaultPayloadConverter.fromPayload<{ message: string }>(opened as Payload).message;
}

test('an agent, its turn, its sessions, signals, updates and failures run encrypted, and the server has none of it in the clear', async () => {
  const id = `${CONTROL}-agent`;
  await client.agent(id).start({
    task: `Say ${CANARY}`,
    ...files.settings([
      { text: exec({ runtime: 'terminal', code: `echo ${CANARY}; read -p 'name? ' x; echo got $x` }) },
      { expect: 'waiting for input', text: call('input', { session: 0, keyboard: CANARY }) },
      { expect: `got ${CANARY}`, fail: `the provider says ${CANARY}` },
    ]),
  });
  await expect(client.agent(id).result()).rejects.toMatchObject({
    code: 'model_failed',
    message: expect.stringContaining(`the provider says ${CANARY}`) as string,
  });
  expect(JSON.stringify((await client.agent(id).transcript()).messages)).toContain(`got ${CANARY}`);

  const session = client.session({ agent: CONTROL, session: 1 });
  const asked = await session.exec({ code: `read -p 'name? ' x; echo signalled $x` });
  expect(asked).toMatchObject({ state: 'waiting_input' });
  await session.signalInput({ keyboard: CANARY });
  expect(await session.output({ wait: 'exit', waitMs: 20_000 })).toMatchObject({ state: 'exited' });
  expect((await session.exec({ code: `echo updated ${CANARY}` })).output).toContain(`updated ${CANARY}`);
  await expect(session.input({ keyboard: CANARY })).rejects.toMatchObject({ code: 'no_running_process' });

  let seen = '';
  for await (const { workflowId } of client.temporal.workflow.list())
    seen += bytesIn(await historyOf(workflowId));
  expect(seen).toContain(CONTROL);
  expect(seen).not.toContain(CANARY);
  const { dbFile } = engine.server();
  const stored = [dbFile, `${dbFile}-wal`].filter(existsSync).map((file) => readFileSync(file, 'latin1'));
  expect(stored.join()).toContain(CONTROL);
  expect(stored.join()).not.toContain(CANARY);
}, 60_000);

test('encrypted histories replay', async () => {
  const workflowIds = [agentWorkflowId(`${CONTROL}-agent`), `${agentWorkflowId(`${CONTROL}-agent`)}/turn/1`];
  const dataConverter = encryptedPayloads({ keys: [NEW, OLD], required: true });
  const verdicts = await replayHistories({ workflowIds, client, dataConverter });
  expect(verdicts.map(({ error }) => error)).toEqual([null, null]);
});

test('a reader with another key, or none, is told so and reads nothing', async () => {
  const result = async (keys: KeySource[]): Promise<unknown> => {
    const other = await connect(keys);
    return other
      .agent(`${CONTROL}-agent`)
      .result()
      .finally(() => other.close());
  };
  await expect(result([{ id: 'old', file: keyFile('other') }])).rejects.toMatchObject({
    code: 'payload_not_authentic',
  });
  await expect(result([{ id: 'other', file: keyFile('other') }])).rejects.toMatchObject({
    code: 'payload_key_unknown',
  });
});

test('a reader with another key lists agents that it cannot read, without what is sealed', async () => {
  const id = `${CONTROL}-agent`;
  const other = await connect([{ id: 'other', file: keyFile('other') }]);
  const { items } = await other.agents.page({ state: 'ended' }).finally(() => other.close());
  expect(items).toContainEqual(expect.objectContaining({ id, message: null }));
  const listed = await client.agents.page({ state: 'ended' });
  expect(listed.items.find((one) => one.id === id)?.message).toContain(CANARY);
  const noKeys = join(engine.dataDir, 'no-keys.toml');
  writeFileSync(noKeys, '');
  const { code, stdout } = await engine.cliInTurn(['ps', '--all'], { env: { HOLDFAST_CONFIG: noKeys } });
  expect(code).toBe(0);
  expect(stdout).toContain(id);
});

test('a payload of another workflow and one that is not encrypted are refused by the worker, which runs nothing', async () => {
  // What activities fail with is logged on their own machine, in the clear.
  const logged = readFileSync(join(engine.dataDir, 'worker.log'), 'utf8').length;
  const [moved, bare] = [2, 3].map((session) => client.session({ agent: CONTROL, session }));
  for (const session of [moved, bare]) await session?.exec({ code: 'read x; echo typed: $x' });
  const started = (await historyOf(client.session({ agent: CONTROL, session: 1 }).workflowId)).events?.find(
    ({ workflowExecutionSignaledEventAttributes: signal }) => signal?.signalName === 'input',
  )?.workflowExecutionSignaledEventAttributes?.input?.payloads?.[0];
  await signalRaw(String(moved?.workflowId), 'input', started as Payload);
  await signalRaw(String(bare?.workflowId), 'input', plain({ keyboard: CANARY }));
  expect(await refusalIn(String(moved?.workflowId))).toMatch(
    /made for another place: got workflow exec\/control-7f3a\/local\/1, allowed exec\/control-7f3a\/local\/2/,
  );
  const said = await refusalIn(String(bare?.workflowId));
  expect(said).toMatch(/not encrypted: got encoding "json\/plain" for exec\/control-7f3a\/local\/3/);
  expect(said).not.toContain(CANARY);
  const workerLog = readFileSync(join(engine.dataDir, 'worker.log'), 'utf8').slice(logged);
  expect(workerLog).toMatch(/made for another place: got workflow exec\/control-7f3a\/local\/1/);
  expect(workerLog).not.toContain(CANARY);
  const log = readFileSync(join(engine.dataDir, 'sessions', `${CONTROL}.local.3`, 'log'), 'utf8');
  expect(log).not.toContain('typed');
  for (const session of [moved, bare])
    await client.temporal.workflow.getHandle(String(session?.workflowId)).terminate();
}, 60_000);

describe('a message that was not sealed for its workflow, its run and its name', () => {
  const heldIn = async (
    session: number,
    code: string,
  ): Promise<{
    asked: ReturnType<HoldfastClient['session']>;
    one: WaitingApproval;
    end: Promise<unknown>;
  }> => {
    const asked = client.session({ agent: 'asked', session });
    const end = asked.exec({ code }).catch((err: unknown) => err);
    let waiting: WaitingApproval[] = [];
    await until(async () => {
      waiting = await client.approvals.of(asked.workflowId).catch(() => []);
      return waiting.length > 0;
    });
    return { asked, one: waiting[0] as WaitingApproval, end };
  };
  const refusedOf = async (
    asked: ReturnType<HoldfastClient['session']>,
    count: number,
  ): Promise<string[]> => {
    let refused: string[] = [];
    await until(async () => {
      ({ refused } = await asked.state());
      return refused.length >= count;
    });
    return refused;
  };
  /** The stored payloads of a signal with this name. */
  const stored = async (workflowId: string, name: string): Promise<Payload[]> => {
    const { events } = await historyOf(workflowId);
    const found = events?.find(
      ({ workflowExecutionSignaledEventAttributes: signal }) => signal?.signalName === name,
    );
    return found?.workflowExecutionSignaledEventAttributes?.input?.payloads ?? [];
  };

  test('approves, resets and closes nothing if it carries no data', async () => {
    const file = join(files.directory, 'ran-unasked');
    const { asked, one, end } = await heldIn(0, `touch ${file}`);
    for (const name of ['approve', 'reset', 'close']) await signalRaw(asked.workflowId, name);
    for (const said of await refusedOf(asked, 3)) expect(said).toMatch(/^A message was refused: got "/);
    expect(await asked.state()).toMatchObject({ status: 'waiting_approval' });
    expect(existsSync(file)).toBe(false);
    await expect(client.approvals.approve(asked.workflowId, {})).rejects.toMatchObject({
      code: 'approval_needs_hash',
    });
    await client.approvals.approve(asked.workflowId, { id: one.id, hash: one.hash });
    expect(await end).toMatchObject({ exitCode: 0 });
    expect(existsSync(file)).toBe(true);
  }, 30_000);

  test('does nothing when it is sent again, as itself or as another', async () => {
    const { asked, one, end } = await heldIn(1, 'echo once');
    await client.temporal.workflow
      .getHandle(asked.workflowId)
      .signal('deny', { id: one.id, reason: 'not this one' });
    expect(await end).toMatchObject({ code: 'approval_denied' });
    const denied = await stored(asked.workflowId, 'deny');
    const again = await heldIn(1, 'echo twice');
    await signalRaw(asked.workflowId, 'deny', ...denied);
    await signalRaw(asked.workflowId, 'close', ...denied);
    const [first, second] = await refusedOf(asked, 2);
    expect(first).toContain('"deny" that was accepted before');
    expect(second).toContain('"close" that was sealed as "deny"');
    await client.approvals.approve(asked.workflowId, { id: again.one.id, hash: again.one.hash });
    expect(await again.end).toMatchObject({ output: 'twice\n' });
  }, 30_000);

  test('does nothing if it was made for an earlier run', async () => {
    const session = client.session({ agent: CONTROL, session: 5 });
    await session.exec({ code: 'true' });
    const old = { holdfastSeal: { message: 'close', id: 'old', at: Date.now() - 600_000 }, args: [{}] };
    const codec = encryptingCodec({ keys: [OLD] }, {});
    const owner = { namespace: 'default', workflowId: session.workflowId };
    await signalRaw(session.workflowId, 'close', ...(await codec.encodeFor([plain(old)], owner)));
    expect(await refusedOf(session, 1)).toEqual([expect.stringContaining('"close" that was made at 20')]);
    expect((await session.exec({ code: 'echo lives' })).output).toBe('lives\n');
  }, 30_000);

  test('does not interrupt, stop or recover an agent', async () => {
    const id = `${CONTROL}-busy`;
    await client.agent(id).start({ mode: 'conversation', model: files.model([{ text: 'first' }]) });
    for (const name of ['interrupt', 'stop', 'recover']) await signalRaw(agentWorkflowId(id), name);
    await until(async () => (await client.agent(id).state()).refused.length === 3);
    expect(await client.agent(id).state()).toMatchObject({ status: 'idle' });
    expect(await client.agent(id).send('go on')).toMatchObject({ answer: 'first' });
    await client.agent(id).stop('done');
    expect(await client.agent(id).result()).toMatchObject({ answer: 'first' });
  }, 30_000);
});

test('the key changes while a command runs: old data is read, new data has the new key', async () => {
  const session = client.session({ agent: CONTROL, session: 4 });
  const running = session.exec({ code: 'read x; echo after: $x' });
  expect(await running).toMatchObject({ state: 'waiting_input' });
  configure([NEW, OLD], 'allow_plaintext = ["agent"]\n');
  await engine.killWorker();
  await engine.startWorker();
  await session.signalInput({ keyboard: 'rotated' });
  const ended = await session.output({ wait: 'exit', waitMs: 20_000 });
  expect(ended).toMatchObject({ state: 'exited', exitCode: 0 });
  expect(ended.output).toContain('after: rotated');
  const raw = bytesIn(await historyOf(session.workflowId));
  for (const key of ['old', 'new']) expect(raw).toMatch(new RegExp(`(^|\n)${key}\n`));
}, 60_000);

test('plaintext for a listed kind is accepted: an agent that was pasted into the web UI', async () => {
  const id = `${CONTROL}-pasted`;
  await client.temporal.workflowService.startWorkflowExecution({
    namespace: 'default',
    workflowId: agentWorkflowId(id),
    workflowType: { name: WORKFLOWS.agent },
    taskQueue: { name: 'holdfast' },
    requestId: id,
    input: { payloads: [plain({ task: 'x', ...files.settings([{ text: 'pasted answer' }]) })] },
  });
  expect(await client.agent(id).result()).toMatchObject({ answer: 'pasted answer' });
});

test('Temporal’s command line reads it through `holdfast codec`, and the doctor says that it is encrypted', async () => {
  const port = String(12_000 + Math.floor(Math.random() * 18_000));
  const codec = engine.spawnCli(['codec', '--port', port, '--json']);
  stopping.push(() => void codec.kill('SIGKILL'));
  const [line] = (await Promise.race([
    once(createInterface({ input: codec.stdout as NodeJS.ReadableStream }), 'line'),
    once(codec, 'exit'),
  ])) as [string];
  const { url, origins } = JSON.parse(line) as { url: string; origins: string[] };
  expect(origins).toContain(engine.server().uiUrl);
  const { address, binary } = engine.server();
  const workflowId = agentWorkflowId(`${CONTROL}-agent`);
  const show = ['workflow', 'show', '--address', address, '-w', workflowId, '-o', 'json'];
  const shown = async (...more: string[]): Promise<string> => {
    const { stdout } = await promisify(execFile)(binary, [...show, ...more]);
    const payloads = [...stdout.matchAll(/"data": "([^"]*)"/g)].map(([, data = '']) => data);
    return payloads.map((data) => Buffer.from(data, 'base64').toString()).join('\n');
  };
  expect(await shown('--codec-endpoint', url)).toContain(CANARY);
  expect(await shown()).not.toContain(CANARY);
  const doctor = await engine.cli(['doctor', '--json']);
  expect(doctor.stdout).toContain('encrypted with key new; plaintext is refused');
  codec.kill('SIGINT');
  expect(await once(codec, 'exit')).toEqual([130, null]);
}, 60_000);

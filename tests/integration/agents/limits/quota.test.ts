// What the models of all agents may use in a day: who waits for what, what is counted, and when it goes on.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CrashPoint } from '../../../../system/faults/crash-point';
import type { AgentHandle } from '../../../../client/agents/agent-handle';
import {
  dayOf,
  quotaWorkflowId,
  type DayUse,
  type QuotaRecord,
} from '../../../../contracts/models/daily-quota';
import { WORKFLOWS } from '../../../../contracts/messages';
import { MAIN_TASK_QUEUE } from '../../../../contracts/ids';
import { quietenRuntime } from '../../../../testing/quiet-runtime';
import { createWorkers } from '../../../../workers';
import { EngineOfItsOwn } from '../../../helpers/engines/engine-of-its-own';
import { scratch, uniqueId } from '../../../helpers/engines/temporal';
import { until } from '../../../helpers/until';

const DAY_MS = 86_400_000;
const engine = new EngineOfItsOwn();
const files = scratch();
const configure = (limits: string): void => engine.configure(`[quota]\n${limits}\n`);

beforeAll(async () => {
  quietenRuntime();
  await engine.startServer();
  configure('tokens_per_day = 1000');
  await engine.start();
}, 60_000);
afterAll(async () => {
  const left = await engine.end();
  files.remove();
  expect(left).toEqual([]);
}, 60_000);

/** An agent whose model answers once, with this use. */
async function started(tokens: number, costUsd?: number): Promise<AgentHandle> {
  const agent = engine.client.agent(uniqueId('quota'));
  const usage = { inputTokens: tokens, outputTokens: 0, ...(costUsd !== undefined && { costUsd }) };
  await agent.start({ task: 'go', ...files.settings([{ text: 'done', usage }]) });
  return agent;
}

const waitOf = async (agent: AgentHandle): Promise<string | undefined> => (await agent.state()).waits?.for;
const untilHeld = (agent: AgentHandle): Promise<void> =>
  until(async () => (await waitOf(agent)) === 'quota', 30_000);
const used = async (): Promise<number> => (await engine.client.quota.read())?.tokens ?? 0;
const modelCallsOf = async (agent: AgentHandle): Promise<number> => {
  const { events } = await engine.client.temporal.workflow
    .getHandle(`${agent.workflowId}/turn/1`)
    .fetchHistory();
  return (events ?? []).filter(
    (event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'callModel',
  ).length;
};

test.each<[string, CrashPoint]>([
  ['after the model has answered, before its use is counted', 'model-answered'],
  ['after its use was counted, before its reply is recorded', 'model-counted'],
])(
  'a model call whose worker dies %s counts once',
  async (_when, point) => {
    const before = await used();
    const answer = await engine.crashingAt(point, async () => (await started(100)).result());
    expect(answer).toMatchObject({ answer: 'done', usage: { inputTokens: 100 } });
    expect((await used()) - before).toBe(100);
  },
  120_000,
);

test('once the quota is used up no agent calls its model; a stopped one ends, and a higher quota lets the others go on', async () => {
  // The last call may go beyond it.
  await (await started(5_000)).result();
  const held = await started(1);
  const stopped = await started(1);
  await untilHeld(held);
  await untilHeld(stopped);

  const { stdout } = await engine.cliInTurn(['ps']);
  expect(stdout).toMatch(
    /waits for quota since \S+; The quota of the day is used up \(got \d+ tokens, allowed 1000 tokens\): goes on at \S+T00:00:00\.000Z, or with a higher one/,
  );
  const doctor = await engine.cliInTurn(['doctor', '--json', '--address', engine.server().address]);
  expect(JSON.parse(doctor.stdout)).toContainEqual({
    ...{ name: 'quota', status: 'warn' },
    found: expect.stringMatching(/^\d+ of 1000 tokens on \d{4}-\d\d-\d\d \(UTC\)$/) as string,
    next: expect.stringContaining('agents wait until') as string,
  });
  const turn = engine.client.temporal.workflow.getHandle(`${held.workflowId}/turn/1`);
  expect((await turn.describe()).searchAttributes.HoldfastWaitsFor).toEqual(['quota']);

  await stopped.stop();
  expect(await stopped.result()).toMatchObject({ reason: 'stopped', answer: null });

  const before = await used();
  configure('tokens_per_day = 100_000');
  expect(await held.result()).toMatchObject({ answer: 'done', reason: 'answered' });
  expect((await used()) - before).toBe(1);
  expect(await modelCallsOf(held)).toBe(2);
}, 120_000);

test('a turn whose time ends before there is room ends as `time_limit`, with the quota as its error', async () => {
  configure('tokens_per_day = 1000');
  // The worker follows the file: from then on, agents wait.
  await until(async () => {
    const agent = await started(1);
    const isHeld = await Promise.race([agent.result().then(() => false), untilHeld(agent).then(() => true)]);
    await agent.stop().catch(() => undefined);
    return isHeld;
  }, 60_000);
  const agent = engine.client.agent(uniqueId('late'));
  // Long enough for its model to have been asked for on a busy machine.
  await agent.start({ task: 'go', limits: { wallMs: 20_000 }, ...files.settings([{ text: 'done' }]) });
  expect(await agent.result()).toMatchObject({
    ...{ reason: 'time_limit', answer: null },
    error: { code: 'quota_reached' },
  });
}, 120_000);

test('a counter whose history has grown long begins anew with the count, and knows which calls it has counted', async () => {
  const { quota, temporal } = engine.client;
  const handle = temporal.workflow.getHandle(quotaWorkflowId(MAIN_TASK_QUEUE));
  const runId = async (): Promise<string> => (await handle.describe()).runId;
  // Of one run each: the calls of a run come one after the other.
  const call = (run: number, messages: number): Promise<void> =>
    quota.add({ run: `run-${run}`, messages, tokens: 1, costUsd: 0 });
  await call(10, 1);
  const before = await used();
  const first = await runId();
  let messages = 0;
  // The server of the tests suggests it after 400 events, that of the long run leaves it to the counter.
  while ((await runId()) === first && messages < 500) {
    messages += 1;
    await Promise.all(Array.from({ length: 10 }, (_one, run) => call(run, messages)));
  }
  expect(await runId()).not.toBe(first);
  // Counted by the run before.
  await call(10, 1);
  expect((await used()) - before).toBe(10 * messages);
}, 120_000);

/** The counter, as if a day with this use were the last that it knows. */
async function knows(use: DayUse): Promise<void> {
  const { workflow } = engine.client.temporal;
  const workflowId = quotaWorkflowId(MAIN_TASK_QUEUE);
  await workflow.getHandle(workflowId).terminate('the test sets the day');
  const record: QuotaRecord = { use, counted: [] };
  await workflow.start(WORKFLOWS.quota, { workflowId, taskQueue: MAIN_TASK_QUEUE, args: [record] });
}
const today = (): string => dayOf(Date.now());

test('the count outlives all workers and their folders; the next day begins with nothing, and a day that is years ahead holds up nobody', async () => {
  const before = await used();
  expect(before).toBeGreaterThan(1000);
  await engine.killWorker();
  const dataDir = mkdtempSync(join(tmpdir(), 'holdfast-quota-'));
  writeFileSync(join(dataDir, 'holdfast.toml'), '[quota]\ntokens_per_day = 1000\n');
  const { address } = engine.server();
  const workers = await createWorkers({
    ...{ address, dataDir, host: null, join: true },
    namespace: engine.namespace,
    log: { info: () => undefined, warn: () => undefined },
  });
  const running = workers.run();
  try {
    expect(await used()).toBe(before);
    const held = await started(7);
    await untilHeld(held);
    await knows({ day: dayOf(Date.now() - DAY_MS), tokens: before, costUsd: 0, unpriced: 0 });
    expect(await held.result()).toMatchObject({ answer: 'done' });
    expect(await engine.client.quota.read()).toMatchObject({ day: today(), tokens: 7 });
    // As a worker did whose clock was years ahead.
    await knows({ day: '2036-01-01', tokens: before, costUsd: 0, unpriced: 0 });
    expect(await (await started(8)).result()).toMatchObject({ answer: 'done' });
    expect(await engine.client.quota.read()).toMatchObject({ day: today(), tokens: 8 });
  } finally {
    workers.shutdown();
    await running;
    rmSync(dataDir, { recursive: true, force: true });
  }
  const { events } = await engine.client.temporal.workflow
    .getHandle(quotaWorkflowId(MAIN_TASK_QUEUE))
    .fetchHistory();
  expect((events ?? []).filter((event) => event.activityTaskScheduledEventAttributes)).toEqual([]);
}, 120_000);

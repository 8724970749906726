// The sums of what agents have used.
import { randomUUID } from 'node:crypto';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import type { Usage } from '../../../contracts/agents/agent';
import type { GatewayContext } from '../../../gateway/gateway-context';
import { RememberedRuns } from '../../../gateway/remembered-runs';
import { usageReport } from '../../../gateway/usage/usage-report';
import { FakeServer } from '../../helpers/engines/fake-server';

const caller = { id: 't', name: 'n', role: 'viewer', agents: ['*'], expiresAt: null } as const;

interface Run {
  id: string;
  workflowId: string;
  runId: string;
  /** By default it is the first itself. */
  firstRunId?: string;
  end: object | null;
  startedAt: string;
  /** The answer of this run. */
  says: () => Promise<Usage>;
  agents?: { agentId: string; isCounted?: boolean }[];
}
const used = (inputTokens: number): Usage => ({
  inputTokens,
  outputTokens: 0,
  cachedTokens: 0,
  costUsd: null,
});
const run = (id: string, says: Run['says'], end: object | null = {}): Run => ({
  ...{ id, workflowId: `agent/${id}`, runId: randomUUID(), end, startedAt: '2026-11-26T00:00:00.000Z', says },
});

const ask = jest.fn();

/** The newest first. Without the id of a run, the newest answers. */
function contextOf(runs: Run[]): Pick<GatewayContext, 'client'> {
  const ownState = async (id: string, runId?: string): Promise<object> => {
    ask(id, runId);
    const asked = runs.find((one) => one.id === id && (runId ?? one.runId) === one.runId);
    return { agents: asked?.agents ?? [], model: 'm', runId: asked?.runId, usage: await asked?.says() };
  };
  const described = runs.map(({ workflowId, runId, firstRunId = runId }): [string, object] => [
    `${workflowId}#${runId}`,
    { status: 'TERMINATED', runId, firstRunId },
  ]);
  const server = new FakeServer(Object.fromEntries(described) as FakeServer['workflows']);
  const client = {
    temporal: {
      ...server.client,
      withAbortSignal: <T>(_signal: AbortSignal, work: () => Promise<T>) => work(),
    },
    agent: (id: string) => ({ ownState: (runId?: string) => ownState(id, runId) }),
    agents: {
      async *list() {
        yield* runs;
      },
    },
  };
  return { client } as unknown as Pick<GatewayContext, 'client'>;
}

beforeEach(() => {
  jest.useFakeTimers();
  ask.mockClear();
});
afterEach(() => jest.useRealTimers());

test('for a token for some agents no more than 10,000 are looked through, however many the server keeps', async () => {
  const others = Array.from({ length: 10_000 }, (_, n) => run(`other-${n}`, async () => used(1)));
  const mine = [1, 2].map((tokens) => run(`mine-${tokens}`, async () => used(tokens)));
  const some = { ...caller, agents: ['mine-*'] };
  const report = await usageReport(contextOf([...mine.slice(0, 1), ...others, ...mine.slice(1)]), some);
  expect(report.byAgent).toMatchObject([{ key: 'mine-1' }]);
});

test('two runs under one id count what each has used', async () => {
  const runs = [run('a', async () => used(100), null), run('a', async () => used(7))];
  const report = await usageReport(contextOf(runs), caller);
  expect(report).toMatchObject({ total: { inputTokens: 107 }, unanswered: [] });
  expect(report.byAgent).toMatchObject([{ key: 'a', inputTokens: 107 }]);
});

test('of runs that follow one another by resets, the newest counts; a new start under their id counts by itself', async () => {
  const [started, reset, first] = [7, 110, 100].map((tokens) => run('a', async () => used(tokens)));
  if (!started || !reset || !first) throw new Error('three');
  const report = await usageReport(
    contextOf([started, { ...reset, firstRunId: first.runId }, first]),
    caller,
  );
  expect(report).toMatchObject({ total: { inputTokens: 117 }, unanswered: [] });
});

test('a sub-agent counts once: in its parent, once a turn has waited for it, otherwise by itself', async () => {
  const children = ['counted', 'not-counted', 'of-earlier-release'].map((id) =>
    run(id, async () => used(100)),
  );
  const agents = [
    { agentId: 'counted', isCounted: true },
    { agentId: 'not-counted', isCounted: false },
    { agentId: 'of-earlier-release' },
  ];
  const parent = { ...run('parent', async () => used(210)), agents };
  const { total, byTree } = await usageReport(contextOf([parent, ...children]), caller);
  expect(total.inputTokens).toBe(310);
  expect(byTree.map(({ key }) => key).sort()).toEqual(['not-counted', 'parent']);
});

test('a run that has ended is asked once', async () => {
  const context = contextOf([run('a', async () => used(7))]);
  const first = await usageReport(context, caller);
  expect(await usageReport(context, caller)).toEqual(first);
  expect(ask).toHaveBeenCalledTimes(1);
});

test('of a run that has ended nothing is kept that the report does not use', async () => {
  const remember = jest.spyOn(RememberedRuns.prototype, 'set');
  const agents = [{ agentId: 'b', isCounted: true, role: 'r', result: { text: 'the whole answer' } }];
  const one = { ...run('a', async () => used(7)), agents };
  await usageReport(contextOf([one]), caller);
  const kept = { usage: used(7), model: 'm', agents: [{ agentId: 'b', isCounted: true }] };
  expect(remember.mock.calls).toEqual([[one.runId, kept]]);
  remember.mockRestore();
});

test('agents that do not answer are named, and after ten seconds no more are asked', async () => {
  const never = (): Promise<Usage> => new Promise(() => undefined);
  const silent = Array.from({ length: 500 }, (_, n) => run(`silent-${n}`, never));
  const faulty = run('faulty', () =>
    Promise.reject(new HoldfastError('no_worker', { taskQueue: 'q', address: '' })),
  );
  const asked = usageReport(contextOf([run('a', async () => used(7)), faulty, ...silent]), caller);
  await jest.advanceTimersByTimeAsync(10_000);
  const { total, unanswered } = await asked;
  expect(total.inputTokens).toBe(7);
  expect(ask.mock.calls.length).toBeLessThan(100);
  expect(unanswered).toEqual([faulty, ...silent].map(({ id }) => id).sort());
});

test('an agent that the server keeps no longer is not one that does not answer', async () => {
  const gone = run('gone', () =>
    Promise.reject(new HoldfastError('not_found', { what: 'The agent', got: 'gone' })),
  );
  expect(await usageReport(contextOf([gone]), caller)).toMatchObject({ byAgent: [], unanswered: [] });
});

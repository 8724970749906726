// How often a caller that waits looks whether its answer can come at all. The clock is the test's: each pause is over at
// once, and has taken what it should.
import { temporal } from '@temporalio/proto';
import type { Client } from '@temporalio/client';
import { deliver } from '../../../../client/delivery/deliver';

let now = 0;
jest.mock('node:timers/promises', () => ({
  setTimeout: async (ms: number, _value: unknown, { signal }: { signal?: AbortSignal } = {}) => {
    await new Promise((resolve) => setImmediate(resolve));
    signal?.throwIfAborted();
    now += ms;
  },
}));
beforeEach(() => {
  now = 0;
  jest.spyOn(Date, 'now').mockImplementation(() => now);
  jest.spyOn(performance, 'now').mockImplementation(() => now);
});
afterEach(() => jest.restoreAllMocks());

const HOUR_MS = 3_600_000;

/** A workflow whose tasks fail from this time on; `looks` has the times at which it was described. */
function workflowFailingFrom(failsAt: number): { client: Client; looks: number[] } {
  const looks: number[] = [];
  const describe = (): Promise<object> => {
    looks.push(now);
    const pendingWorkflowTask = now >= failsAt ? { attempt: 9 } : null;
    const execution = { workflowId: 'agent/a', runId: 'r' };
    return Promise.resolve({ workflowExecutionInfo: { execution, taskQueue: 'q' }, pendingWorkflowTask });
  };
  const failed = temporal.api.history.v1.HistoryEvent.create({
    workflowTaskFailedEventAttributes: {},
  });
  const client = {
    withAbortSignal: (_: AbortSignal, send: () => unknown) => send(),
    options: { namespace: 'default' },
    workflowService: {
      describeWorkflowExecution: describe,
      getWorkflowExecutionHistoryReverse: () => Promise.resolve({ history: { events: [failed] } }),
    },
  };
  return { client: client as unknown as Client, looks };
}

const waiting = (client: Client, answer: () => Promise<string>): Promise<string> =>
  deliver(
    {
      client,
      what: 'The agent',
      workflowId: 'agent/a',
      server: { address: 'nowhere', queue: 'q' },
      needsWorker: false,
    },
    answer,
  );

test('a wait of an hour looks soon, and then twice a minute at most', async () => {
  const { client, looks } = workflowFailingFrom(Infinity);
  const answer = new Promise<string>((resolve) => {
    const tick = (): unknown => (now >= HOUR_MS ? resolve('done') : setImmediate(tick));
    tick();
  });
  expect(await waiting(client, () => answer)).toBe('done');
  expect(looks[0]).toBeLessThanOrEqual(5_000);
  expect(looks.length).toBeLessThan(2 * 60 + 5);
  // Most agents take no longer than a minute.
  expect(looks.filter((at) => at < 60_000).length).toBeLessThanOrEqual(2);
  expect(looks.length).toBeGreaterThan(60);
});

test.each([0, 20_000, 600_000])(
  'a workflow that fails after %d ms is told within half a minute of that',
  async (failsAt) => {
    const { client } = workflowFailingFrom(failsAt);
    await expect(waiting(client, () => new Promise(() => undefined))).rejects.toMatchObject({
      code: 'workflow_stuck',
    });
    expect(now - failsAt).toBeLessThanOrEqual(35_000);
  },
);

test.each([
  ['is answered once it completes its tasks again', Infinity, 'done'],
  ['is told after some seconds if it fails them again', 5_000, 'workflow_stuck'],
])('a workflow of which the server says that its tasks fail %s', async (_what, failsAt, told) => {
  const { client } = workflowFailingFrom(failsAt);
  const send = (): Promise<string> =>
    now >= 30_000 ? Promise.resolve('done') : Promise.reject(new Error('Workflow Task in failed state.'));
  const code = (err: { code?: unknown }): unknown => err.code;
  expect(await waiting(client, send).catch(code)).toBe(told);
});

/** A server that answers nothing until this time; a look ends at its deadline, eight seconds later. */
function serverFrozenUntil(goesOnAt: number): Client {
  const describe = (): Promise<object> => {
    if (now >= goesOnAt) return Promise.resolve({});
    now += 8_000;
    const late = { code: 4, details: 'Deadline exceeded', metadata: {} };
    return Promise.reject(Object.assign(new Error('Deadline exceeded'), late));
  };
  const { client } = workflowFailingFrom(Infinity);
  return { ...client, workflowService: { describeWorkflowExecution: describe } } as unknown as Client;
}

test.each([
  ['is told after a minute', Infinity, 'no_server'],
  ['for less than a minute delays an answer, and takes it from nobody', 45_000, 'done'],
])('a server that is frozen %s', async (_what, goesOnAt, told) => {
  const answer = new Promise<string>((resolve) => {
    const tick = (): unknown => (now >= goesOnAt ? resolve('done') : setImmediate(tick));
    if (goesOnAt < Infinity) tick();
  });
  const code = (err: { code?: unknown }): unknown => err.code;
  expect(await waiting(serverFrozenUntil(goesOnAt), () => answer).catch(code)).toBe(told);
  if (told === 'no_server') expect(now).toBeGreaterThan(60_000);
  expect(now).toBeLessThan(90_000);
});

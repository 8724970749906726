// The agents that have failed lately, as the inbox has them.
import { randomUUID } from 'node:crypto';
import { WorkflowFailedError, type Client, type WorkflowExecutionInfo } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { HoldfastClient } from '../../../client/holdfast-client';
import { listWorkflows } from '../../../client/delivery/list-workflows';
import { failedAgents } from '../../../gateway/inbox/failed-items';

jest.mock('../../../client/delivery/list-workflows');

const result = jest.fn<Promise<unknown>, []>();
const getHandle = jest.fn<{ result: typeof result }, [id: string, run: string, options: object]>(() => ({
  result,
}));
const temporal = {
  workflow: { getHandle },
  withAbortSignal: <T>(_signal: AbortSignal, work: () => Promise<T>) => work(),
} as unknown as Client;
const client = { temporal } as unknown as HoldfastClient;
let gone: Set<string>;
const dismissed = { all: () => gone };
const failed = (): WorkflowExecutionInfo =>
  ({
    ...{ workflowId: 'agent/a', runId: randomUUID(), closeTime: new Date(0), searchAttributes: {} },
    status: { code: 3, name: 'FAILED' },
  }) as WorkflowExecutionInfo;
const lists = (...infos: WorkflowExecutionInfo[]): void =>
  void jest.mocked(listWorkflows).mockImplementation(async function* () {
    yield* infos;
  });
const reason = new WorkflowFailedError(
  'failed',
  ApplicationFailure.create({ type: 'model_auth', message: 'refused', details: [{ provider: 'p' }] }),
  'NON_RETRYABLE_FAILURE',
);

beforeEach(() => {
  jest.useFakeTimers();
  jest.clearAllMocks();
  result.mockRejectedValue(reason);
  gone = new Set();
});
afterEach(() => jest.useRealTimers());

test('the server is asked for those that have failed in the last day, and for no other that has ended', async () => {
  jest.setSystemTime(new Date('2026-11-26T12:00:00Z'));
  lists();
  expect(await failedAgents(client, dismissed)).toEqual([]);
  expect(jest.mocked(listWorkflows).mock.calls[0]?.[1].query).toMatch(
    /ExecutionStatus = "Failed" AND CloseTime >= "2026-11-25T12:00:00\.000Z"\)/,
  );
});

test('why a run has failed is asked of this run, and once', async () => {
  const info = failed();
  lists(info);
  const first = await failedAgents(client, dismissed);
  expect(first).toMatchObject([{ kind: 'failed', agent: 'a', failure: { code: 'model_auth' } }]);
  expect(await failedAgents(client, dismissed)).toEqual(first);
  expect(getHandle.mock.calls).toEqual([['agent/a', info.runId, { followRuns: false }]]);
});

test('a run that does not answer hides no other, and is asked again at the next look', async () => {
  const infos = [failed(), failed()];
  lists(...infos);
  result.mockReturnValueOnce(new Promise(() => undefined));
  const looked = failedAgents(client, dismissed);
  await jest.advanceTimersByTimeAsync(3_000);
  const [silent, told] = await looked;
  expect(silent).not.toHaveProperty('failure');
  expect(told).toMatchObject({ failure: { code: 'model_auth' } });
  expect(await failedAgents(client, dismissed)).toMatchObject([{ failure: { code: 'model_auth' } }, told]);
  expect(getHandle).toHaveBeenCalledTimes(3);
});

test('a run that a person has dismissed is neither shown nor asked', async () => {
  const [kept, put] = [failed(), failed()];
  lists(kept, put);
  gone.add(put.runId);
  expect(await failedAgents(client, dismissed)).toMatchObject([{ run: { runId: kept.runId } }]);
  expect(getHandle).toHaveBeenCalledTimes(1);
});

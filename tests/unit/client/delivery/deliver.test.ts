// How long a message is resent.
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { deliver, type Delivery } from '../../../../client/delivery/deliver';
import { HoldfastError } from '../../../../contracts/errors/holdfast-error';
import { toFailure } from '../../../../contracts/errors/failure';

afterEach(() => jest.restoreAllMocks());

const to: Delivery = {
  client: { withAbortSignal: (_: AbortSignal, send: () => unknown) => send() } as unknown as Client,
  what: 'The session',
  workflowId: 'exec/a/local/0',
  server: { address: 'nowhere', queue: 'holdfast' },
  needsWorker: false,
};
const draining = (): Error => toFailure(new HoldfastError('draining'));

/** What is sent takes so long, by the clock, and then fails with `draining`, or at the end gives "done". */
function sendTaking(...tookMs: number[]): () => Promise<string> {
  let now = Date.now();
  jest.spyOn(Date, 'now').mockImplementation(() => now);
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  return () => {
    now += tookMs.shift() ?? 0;
    return tookMs.length > 0 ? Promise.reject(draining()) : Promise.resolve('done');
  };
}

test('a wait of minutes that a continue-as-new cuts off continues in the next run, and in the one after', async () => {
  await expect(deliver(to, sendTaking(300_000, 300_000, 5))).resolves.toBe('done');
});

test('a message that is refused at once for longer than a minute is refused', async () => {
  await expect(
    deliver(to, sendTaking(9_000, 9_000, 9_000, 9_000, 9_000, 9_000, 9_000, 9_000, 9_000)),
  ).rejects.toMatchObject({
    code: 'draining',
  });
});

/** Temporal's WorkflowExecutionStatus. */
const [RUNNING, COMPLETED] = [1, 2];
/**
 * As `to`, of a workflow in this state, or in one after the other with each look; undefined: not there. `sent` counts what
 * it received.
 */
function toOneThatIs(...states: (number | undefined)[]): {
  to: Delivery;
  send: () => Promise<string>;
  sent: () => number;
} {
  let sent = 0;
  const describeWorkflowExecution = (): Promise<object> => {
    const status = states.length > 1 ? states.shift() : states[0];
    return status === undefined
      ? Promise.reject(new Error('NOT_FOUND'))
      : Promise.resolve({ workflowExecutionInfo: { status } });
  };
  const workflowService = { describeWorkflowExecution };
  const notFound = new WorkflowNotFoundError(
    'workflow execution already completed',
    to.workflowId,
    undefined,
  );
  return {
    to: { ...to, client: { ...to.client, workflowService, options: {} } as unknown as Client },
    send: () => (++sent === 1 ? Promise.reject(notFound) : Promise.resolve('done')),
    sent: () => sent,
  };
}

test('a message that arrives between two runs of a workflow goes to the second, and is not "not found"', async () => {
  const between = toOneThatIs(RUNNING);
  await expect(deliver(between.to, between.send)).resolves.toBe('done');
  expect(between.sent()).toBe(2);
});

test('a message to a workflow that has ended is refused at once as not found', async () => {
  const ended = toOneThatIs(COMPLETED);
  await expect(deliver(ended.to, ended.send)).rejects.toMatchObject({
    code: 'not_found',
    facts: { ended: true },
  });
  expect(ended.sent()).toBe(1);
});

test('a workflow that starts just after it was not found is never told as one that has ended', async () => {
  const starting = toOneThatIs(undefined, RUNNING);
  const refused = await deliver(starting.to, starting.send).catch((err: unknown) => err);
  expect(refused).toMatchObject({ code: 'not_found' });
  expect(refused).not.toHaveProperty('facts.ended');
});

test('a message is not sent again once its sender was cut off', async () => {
  const over = new AbortController();
  const send = jest.fn(() => {
    over.abort(new Error('cut off'));
    return Promise.reject(draining());
  });
  await expect(deliver({ ...to, signal: over.signal }, send)).rejects.toThrow('cut off');
  await expect(deliver({ ...to, signal: over.signal }, send)).rejects.toThrow('cut off');
  expect(send).toHaveBeenCalledTimes(1);
});

test('a closed session is opened by no call that learns a moment later that it was cut off, too', async () => {
  const over = new AbortController();
  const send = jest.fn(() =>
    Promise.reject(toFailure(new HoldfastError('session_closed', { session: 0, reason: 'stopped' }))),
  );
  setTimeout(() => over.abort(new Error('cut off')), 500);
  await expect(deliver({ ...to, signal: over.signal }, send)).rejects.toThrow('cut off');
  expect(send).toHaveBeenCalledTimes(1);
});

// Calls that learn of their cancellation from the workflow in the same process, before the server notifies them.
import { CancelledFailure } from '@temporalio/activity';
import { MockActivityEnvironment } from '@temporalio/testing';
import { CancelledCalls } from '../../../activities/cancelled-calls';
import { CANCELLED_CALLS } from '../../../contracts/cancellations';

const KEY = 'born/turn/1/1/1';
const run = { workflowId: 'agent/a/turn/1', runId: 'run-1' };

function cancel(calls: CancelledCalls, key: string, runId = run.runId): void {
  const { report } = calls.sinks[CANCELLED_CALLS];
  void report.fn({ runId } as Parameters<typeof report.fn>[0], key);
}
/** Until its signal aborts. */
const untilTold = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const told = (): void => reject(new Error('told'));
    if (signal.aborted) told();
    else signal.addEventListener('abort', told);
  });
const environment = (): MockActivityEnvironment => new MockActivityEnvironment({ workflowExecution: run });

test('a call hears of its cancellation without a heartbeat, and ends as cancelled when the server says so, too', async () => {
  const calls = new CancelledCalls();
  const server = environment();
  const work = jest.fn((signal: AbortSignal) => untilTold(signal));
  const ended = server.run(() => calls.beating(KEY, work)).catch((err: unknown) => err);
  cancel(calls, KEY);
  await expect(work.mock.results[0]?.value).rejects.toThrow('told');
  server.cancel();
  expect(await ended).toBeInstanceOf(CancelledFailure);
});

test('one that begins after it was cancelled hears of it', async () => {
  const calls = new CancelledCalls();
  cancel(calls, KEY);
  const server = environment();
  const work = jest.fn((signal: AbortSignal) => untilTold(signal));
  const ended = server.run(() => calls.beating(KEY, work)).catch((err: unknown) => err);
  await expect(work.mock.results[0]?.value).rejects.toThrow('told');
  server.cancel();
  await ended;
});

test('calls of another key, and those of the same key in a run that follows a reset, go on', async () => {
  const calls = new CancelledCalls();
  cancel(calls, `${KEY}2`);
  cancel(calls, KEY, 'run-0');
  const isTold = environment().run(() => calls.beating(KEY, (signal) => Promise.resolve(signal.aborted)));
  expect(await isTold).toBe(false);
});

test('where the server does not confirm it, the attempt fails, and the next one runs', async () => {
  const calls = new CancelledCalls(10);
  cancel(calls, KEY);
  await expect(environment().run(() => calls.beating(KEY, untilTold))).rejects.toThrow('does not confirm');
  expect(await environment().run(() => calls.beating(KEY, ({ aborted }) => Promise.resolve(aborted)))).toBe(
    false,
  );
});

test('a call that has its result although it was cancelled returns it', async () => {
  const calls = new CancelledCalls();
  cancel(calls, KEY);
  expect(await environment().run(() => calls.beating(KEY, () => Promise.resolve('done')))).toBe('done');
});

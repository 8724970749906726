import { ActivityFailure, ApplicationFailure, RetryState } from '@temporalio/common';
import { HoldfastError } from '../../../../contracts/errors/holdfast-error';
import { fromFailure, toFailure, toRetryableFailure } from '../../../../contracts/errors/failure';

const error = new HoldfastError('busy', { session: 3, from: 17 });

/** What a wrapper of Temporal's does to a failure on its way to the caller. */
const wrapped = (cause: Error): Error =>
  new Error('Workflow Update failed', { cause: new Error('Activity task failed', { cause }) });

test('an error comes back as it was sent, facts and next step included', () => {
  const failure = toFailure(error);
  expect(failure).toMatchObject({
    type: 'busy',
    nonRetryable: true,
    message: error.message,
    details: [error.facts, { docs: error.docs }],
  });
  expect(fromFailure(failure)).toMatchObject({ ...error.toJSON(), exitCode: 75 });
  expect(fromFailure(failure)).toBeInstanceOf(HoldfastError);
});

test('an error is found below the wrappers that Temporal puts around it', () => {
  expect(fromFailure(wrapped(toFailure(error)))?.toJSON()).toEqual(error.toJSON());
  const activity = new ActivityFailure(
    'failed',
    'sendInput',
    '1',
    RetryState.NON_RETRYABLE_FAILURE,
    'worker',
    toFailure(error),
  );
  expect(fromFailure(activity)?.toJSON()).toEqual(error.toJSON());
});

test('an error that never crossed a border is found as itself', () => {
  expect(fromFailure(error)).toBe(error);
  expect(fromFailure(wrapped(error))).toBe(error);
});

test('a failure that lost its details is still its code', () => {
  expect(fromFailure(ApplicationFailure.create({ type: 'draining', message: 'x' }))?.code).toBe('draining');
});

const loop = new Error('loop');
loop.cause = loop;

test.each([
  ['a failure of another type', ApplicationFailure.create({ type: 'TypeError', message: 'x' })],
  ['a failure without a type', ApplicationFailure.create({ message: 'x' })],
  [
    'a failure whose type is a name that objects bring along',
    ApplicationFailure.create({ type: 'toString', message: 'x' }),
  ],
  ['a plain error', new Error('x')],
  ['a text', 'busy'],
  ['nothing', undefined],
  ['a chain that leads back to itself', loop],
])('%s is not an error of the catalogue', (_name, thrown) => {
  expect(fromFailure(thrown)).toBeUndefined();
});

test('a failure is retried no sooner than its provider said, and waits at most an hour', () => {
  const limited = (retryAfterMs?: number): HoldfastError =>
    new HoldfastError('model_rate_limit', { model: 'a:b', got: '429', reason: 'x', retryAfterMs });
  const delays = [7_000, 86_400_000, 0, undefined].map(
    (retryAfterMs) => toRetryableFailure(limited(retryAfterMs)).nextRetryDelay,
  );
  expect(delays).toEqual([7_000, 3_600_000, undefined, undefined]);
  expect(toRetryableFailure(limited(1)).nonRetryable).toBeFalsy();
});

test('the stack does not hide the message in the web UI', () => {
  expect(toFailure(error).stack).toBe('');
});

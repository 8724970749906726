import { NamespaceNotFoundError } from '@temporalio/common';
import { addressIn, awayReason, foreignServer } from '../../../../contracts/errors/server-away';
import { attemptsWithin } from '../../../../client/delivery/closed-connection';
import { knownError } from '../../../../system/known-error';

const requestError = (code: number, details: string): Error =>
  Object.assign(new Error(details), { code, details });
const REFUSED = 'No connection established. Last error: Error: connect ECONNREFUSED 127.0.0.1:7233';

test.each([
  ['UNAVAILABLE', requestError(14, REFUSED), REFUSED],
  ['DEADLINE_EXCEEDED', requestError(4, 'Deadline exceeded'), 'Deadline exceeded'],
  [
    'UNAVAILABLE as the cause',
    new Error('Failed to describe', { cause: requestError(14, REFUSED) }),
    REFUSED,
  ],
  ['NOT_FOUND', requestError(5, 'no such workflow'), undefined],
  ['a failure of the disk', Object.assign(new Error('full'), { code: 'ENOSPC' }), undefined],
  ['nothing', undefined, undefined],
])('%s is told to be, or not to be, a server that is away', (_name, err, reason) => {
  expect(awayReason(err)).toBe(reason);
});

test.each([
  [REFUSED, '127.0.0.1:7233'],
  ['connect ECONNREFUSED [::1]:7233', '[::1]:7233'],
  ['Name resolution failed for target dns:temporal.example.com:443', 'temporal.example.com:443'],
  ['Deadline exceeded after 10.001s', undefined],
])('the address is read from %j', (reason, address) => {
  expect(addressIn(reason)).toBe(address);
});

test('what answers in the place of a Temporal server is no internal error, and no server that is away', () => {
  const err = new Error('Failed to describe', { cause: requestError(12, 'Received HTTP status code 404') });
  expect(knownError(err)).toMatchObject({ code: 'no_server' });
  expect(awayReason(err)).toBeUndefined();
  expect(foreignServer(requestError(12, 'unknown method'))).toBeUndefined();
});

test('a server that is away is no internal error, wherever errors leave a process', () => {
  expect(knownError(requestError(14, REFUSED))).toMatchObject({
    code: 'no_server',
    retryable: true,
    facts: { address: '127.0.0.1:7233', reason: REFUSED },
  });
});

test.each([
  ['the SDK’s own error', new NamespaceNotFoundError('nope')],
  ['the server’s answer', requestError(5, 'Namespace nope is not found.')],
  ['its cause', new Error('Failed to list', { cause: requestError(5, 'Namespace nope is not found.') })],
])('a missing namespace, told by %s, is the caller’s mistake and no internal error', (_name, err) => {
  expect(knownError(err)).toMatchObject({ code: 'namespace_missing', facts: { got: 'nope' } });
});

test('a workflow that is not found is no missing namespace', () => {
  expect(knownError(requestError(5, 'workflow not found for ID: nope')).code).toBe('internal');
});

test('requests are repeated within the patience that was asked for, and as the SDK does it without any', () => {
  expect([0, 1_000, 5_000, Infinity].map(attemptsWithin)).toEqual([1, 4, 6, 10]);
});

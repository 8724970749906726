import { closedSessionFacts, closedSessionLine } from '../../../cli/print/closed-session';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';

const ref = { host: 'local', agent: 'a', session: 1 };
const ended = { ref, killed: undefined, survivors: [], failure: null };
const killed = { pid: 7, why: 'stopped by a signal (T)' };

test('a session that has ended as it should is not mentioned', () => {
  expect(closedSessionLine(ended)).toEqual([]);
  expect(closedSessionFacts(ended)).toEqual({ ...ref, ended: 'closed' });
});

test.each([
  ['of a holder that was killed', { ...ended, killed, survivors: [8, 9] }],
  ['whose holder had died before', { ...ended, survivors: [8, 9] }],
])('processes of a session that still run are named: %s', (_, session) => {
  expect(closedSessionLine(session)).toEqual([expect.stringMatching(/still running: pid 8, 9$/)]);
  expect(closedSessionFacts(session)).toMatchObject({ survivors: [8, 9] });
});

test('a session that could not be ended says why', () => {
  const failure = new HoldfastError('deadline', { what: 'The end', waitedMs: 1 });
  expect(closedSessionLine({ ...ended, failure })).toEqual([expect.stringContaining(failure.message)]);
  expect(closedSessionFacts({ ...ended, failure })).toMatchObject({
    ended: 'failed',
    error: { code: 'deadline' },
  });
});

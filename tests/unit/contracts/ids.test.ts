import {
  agentWorkflowId,
  checkedId,
  checkedSession,
  hostTaskQueue,
  parseSessionWorkflowId,
  sessionWorkflowId,
  turnWorkflowId,
} from '../../../contracts/ids';

const INVALID = expect.objectContaining({ code: 'invalid_input' }) as Error;
const LONG = 'a'.repeat(63);

test.each(['a', '0', 'cli', 'a-b_c', '0-', LONG])('%j is an id', (id) => {
  expect(checkedId('agent', id)).toBe(id);
});

test.each([
  '',
  '-a',
  '_a',
  'A',
  'a.b',
  'a/b',
  '../x',
  'a b',
  'a\n',
  '\na',
  'a\0',
  'é',
  `${LONG}a`,
  'a%2f',
  'a:b',
  5,
  null,
  undefined,
  {},
  ['a'],
])('%j is not an id, and the error says what was given and what is allowed', (id) => {
  expect(() => checkedId('agent', id)).toThrow(/^The agent id is invalid: got .+, allowed 1 to 63 of a-z/s);
});

test.each([0, 1, 999_999])('%d is a session', (session) => {
  expect(checkedSession(session)).toBe(session);
});

test.each([-1, 0.5, 1_000_000, NaN, Infinity, '1', null, undefined, true, [1]])(
  '%j is not a session',
  (session) => {
    expect(() => checkedSession(session)).toThrow(INVALID);
  },
);

test.each([
  { agent: 'cli', host: 'local', session: 0 },
  { agent: LONG, host: LONG, session: 999_999 },
])('the workflow id of a session is read back as that session', (ref) => {
  expect(parseSessionWorkflowId(sessionWorkflowId(ref))).toEqual(ref);
});

test('names are what outside callers rely on', () => {
  expect(sessionWorkflowId({ agent: 'a', host: 'h', session: 1 })).toBe('exec/a/h/1');
  expect(agentWorkflowId('a')).toBe('agent/a');
  expect(turnWorkflowId('a', 3)).toBe('agent/a/turn/3');
  expect(hostTaskQueue('h')).toBe('host.h');
});

test.each([
  '',
  'exec',
  'exec/a/h',
  'exec/a/h/',
  'exec/a/h/x',
  'exec/a/h/1/2',
  'exec//h/1',
  'exec/A/h/1',
  'exec/a/../1',
  'exec/a/h/-1',
  'exec/a/h/1.5',
  'exec/a/h/1000000',
  'agent/a/h/1',
  'Exec/a/h/1',
  'exec/a/h/1\n',
])('the workflow id %j is not a session', (id) => {
  expect(parseSessionWorkflowId(id)).toBeUndefined();
});

test.each([
  ['a session', () => sessionWorkflowId({ agent: 'a/b', host: 'h', session: 0 })],
  ['a host', () => hostTaskQueue('h.x')],
  ['an agent', () => agentWorkflowId('a/turn/1')],
  ['a turn', () => turnWorkflowId('..', 1)],
])('no bad id gets into the name of %s', (_name, make) => {
  expect(make).toThrow(INVALID);
});

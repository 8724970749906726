// What continue-as-new carries of scripts' calls.
import type { CallState } from '../../../contracts/tools/call-state';
import { jsonBytes } from '../../../contracts/payload-size';
import { setOwn } from '../../../contracts/own';
import {
  carriedCalls,
  readCalls,
  type CallRecord,
  type SessionCall,
  type SessionCalls,
} from '../../../workflows/session/call-record';

const request: SessionCall['request'] = {
  id: 'e1c1',
  commandId: 'c',
  tool: 'fire',
  args: { a: 1 },
  cwd: '/',
  effects: 'once',
  runsOn: 'anywhere',
  timeoutMs: 1,
};
const asking = {
  ...request,
  hold: { hash: 'h', reasons: [], expiresMs: 1, what: 'fire', place: { host: 'local', cwd: null } },
};
const outcome = { ok: true as const, value: 1 };
const lost = { ok: false as const, error: { code: 'unknown_outcome', message: 'x', retryable: false } };
const notLost = (): never => {
  throw new Error('it fits');
};

test('thousands of calls that were cancelled before they came do not keep the others from being carried', () => {
  const calls: SessionCalls = {};
  const ended: SessionCall = { request, state: { is: 'ended', outcome, recorded: true }, hash: 'h' };
  setOwn(calls, 'e1c1', ended);
  for (let n = 0; n < 10_000; n++) {
    const never: SessionCall = {
      request: { ...request, tool: '', id: `never-${n}`, args: {} },
      state: { is: 'cancelled', reason: 'x' },
      hash: undefined,
    };
    setOwn(calls, never.request.id, never);
  }
  const carried = carriedCalls(calls, () => lost);
  expect(jsonBytes(carried)).toBeLessThan(500_000);
  expect(carried.e1c1?.outcome).toEqual(lost);
});

test.each<[string, CallState, CallRecord]>([
  ['recorded', { is: 'recorded', slow: false }, { request, outcome: null }],
  ['running', { is: 'running', slow: false }, { request, outcome: null }],
  ['held', { is: 'held', slow: false }, { request: asking, outcome: null }],
  ['approved', { is: 'running', slow: false }, { request: asking, outcome: null, isApproved: true }],
  ['slow', { is: 'running', slow: true }, { request, outcome: null }],
  ['ended', { is: 'ended', outcome, recorded: true }, { request, outcome }],
])('a call that is %s is carried, and read as such', (_, state, record) => {
  const calls = { e1c1: { request: record.request, state, hash: 'h' } };
  const carried = carriedCalls(calls, notLost);
  expect(carried).toEqual({ e1c1: { ...record, hash: 'h' } });
  // A new run has notified no caller, and does not know whether a call that is not held has begun.
  const read = state.is === 'ended' ? state : { is: state.is === 'held' ? 'held' : 'running', slow: false };
  expect(readCalls(carried)).toEqual({ e1c1: { ...calls.e1c1, state: read } });
});

test('a cancelled call is carried with the outcome that its script is told', () => {
  const state: CallState = { is: 'cancelled', reason: 'nobody waits' };
  const { e1c1 } = carriedCalls({ e1c1: { request, state, hash: undefined } }, notLost);
  expect(e1c1?.outcome).toMatchObject({ ok: false, error: { code: 'call_cancelled' } });
});

test('the latest calls are carried whole, and earlier ones that do not fit with an unknown outcome, in their order', () => {
  const calls: SessionCalls = {};
  const asked: string[] = [];
  for (const id of ['__proto__', 'e1c2', 'e1c3'])
    setOwn<SessionCall>(calls, id, {
      request: { ...request, id, args: { text: 'x'.repeat(150_000) } },
      state: { is: 'running', slow: false },
      hash: undefined,
    });
  const carried = carriedCalls(calls, (call) => (asked.push(call.request.id), lost));
  expect(Object.keys(carried)).toEqual(['__proto__', 'e1c2', 'e1c3']);
  expect(Object.values(carried).map((call) => [call.outcome, 'text' in call.request.args])).toEqual([
    [lost, false],
    [null, true],
    [null, true],
  ]);
  expect(asked).toEqual(['__proto__']);
});

test('one outcome that is too large to be carried costs no other its place', () => {
  const ended = (text: string): SessionCall => ({
    request,
    state: { is: 'ended', outcome: { ok: true, value: text }, recorded: true },
    hash: undefined,
  });
  const calls = { small: ended('kept'), large: ended('x'.repeat(500_000)) };
  const carried = carriedCalls(calls, () => lost);
  expect(carried.small?.outcome).toEqual({ ok: true, value: 'kept' });
  expect(carried.large?.outcome).toEqual(lost);
});

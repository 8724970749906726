// Which messages are accepted when plaintext is refused.
import {
  CLOCK_SKEW_MS,
  inEnvelope,
  newSealRecord,
  openEnvelope,
  rememberSeal,
  sealFault,
  type SealRecord,
} from '../../../contracts/seals';

const BORN = Date.parse('2026-11-22T08:00:00Z');
const NOW = BORN + 3_600_000;
const overJson = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

function latched(): SealRecord {
  const record = newSealRecord(BORN);
  rememberSeal(record, { message: 'start agent', id: 'first', at: BORN }, true);
  return overJson(record);
}

test.each([
  ['one without a seal', undefined, 'without a seal'],
  ['one whose seal is none', { message: 'stop' }, 'without a seal'],
  ['one that was sealed as another', { message: 'poll', id: 'a', at: NOW }, 'sealed as "poll"'],
  ['one that was accepted before', { message: 'stop', id: 'first', at: NOW }, 'accepted before'],
  ['one of an earlier run', { message: 'stop', id: 'a', at: BORN - CLOCK_SKEW_MS }, 'made at'],
  ['one from a clock that is ahead', { message: 'stop', id: 'a', at: NOW + CLOCK_SKEW_MS + 1 }, 'made at'],
])('%s is refused, and a later run refuses it, too', (_what, seal, got) => {
  expect(sealFault(latched(), 'stop', seal, NOW)?.got).toContain(got);
});

test.each([
  ['of this run', NOW],
  ['that started it, from a clock that is behind', BORN - CLOCK_SKEW_MS + 1],
])('a message %s is taken', (_what, at) => {
  expect(sealFault(latched(), 'stop', { message: 'stop', id: 'a', at }, NOW)).toBeUndefined();
});

test('an unsealed workflow accepts messages without a seal, but still no sealed one twice', () => {
  const record = newSealRecord(BORN);
  const seal = { message: 'stop', id: 'a', at: NOW };
  expect(sealFault(record, 'stop', undefined, NOW)).toBeUndefined();
  rememberSeal(record, seal, false);
  expect(sealFault(record, 'stop', undefined, NOW)).toBeUndefined();
  expect(sealFault(record, 'stop', seal, NOW)?.got).toContain('accepted before');
});

test('a message that is no longer remembered is refused for its age', () => {
  const record = latched();
  for (let n = 0; n < 1_500; n += 1)
    rememberSeal(record, { message: 'stop', id: `n${n}`, at: NOW + n }, false);
  expect(record.seen).toHaveLength(1_000);
  expect(sealFault(record, 'stop', { message: 'stop', id: 'n400', at: NOW + 400 }, NOW)?.got).toContain(
    'made at',
  );
});

test('a busy sender whose clock is ahead holds up no other, and none of its messages is taken twice', () => {
  const record = latched();
  const AHEAD_MS = 100_000;
  for (let n = 0; n < 3_000; n += 1)
    rememberSeal(record, { message: 'call', id: `host/${n}`, at: NOW + n + AHEAD_MS }, false);
  const fault = (message: string, id: string, at: number): string | undefined =>
    sealFault(record, message, { message, id, at }, NOW + 3_000)?.got;
  expect(fault('reset', 'person/1', NOW + 3_000)).toBeUndefined();
  expect(fault('call', 'host/3000', NOW + 3_000 + AHEAD_MS)).toBeUndefined();
  expect(fault('call', 'host/10', NOW + 10 + AHEAD_MS)).toContain('made at');
  expect(fault('call', 'host/2999', NOW + 2_999 + AHEAD_MS)).toContain('accepted before');
});

test('what is remembered of many senders does not grow, and none of their messages is taken twice', () => {
  const record = latched();
  for (let n = 0; n < 2_500; n += 1)
    rememberSeal(record, { message: 'stop', id: `sender-${n}/1`, at: NOW + n }, false);
  expect([record.seen.length, record.floors?.length]).toEqual([1_000, 100]);
  for (const n of [0, 1_000, 1_490, 2_000])
    expect(
      sealFault(record, 'stop', { message: 'stop', id: `sender-${n}/1`, at: NOW + n }, NOW)?.got,
    ).toBeDefined();
  expect(
    sealFault(record, 'stop', { message: 'stop', id: 'another/1', at: NOW + 2_500 }, NOW),
  ).toBeUndefined();
});

test('an envelope returns what was put in, through JSON', () => {
  const seal = { message: 'open', id: 'a', at: NOW };
  expect(openEnvelope(overJson(inEnvelope([undefined, { a: null }], seal)))).toEqual({
    args: [undefined, { a: null }],
    seal,
  });
  expect(openEnvelope([{ code: 'ls' }])).toEqual({ args: [{ code: 'ls' }] });
});

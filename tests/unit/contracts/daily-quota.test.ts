import {
  countUse,
  dayOf,
  nextDayMs,
  reachedOf,
  usedAt,
  type ModelUse,
  type QuotaRecord,
} from '../../../contracts/models/daily-quota';

const NOTHING: QuotaRecord = { use: null, counted: [] };
const NOON = Date.UTC(2026, 10, 24, 12);
const DAY_MS = 86_400_000;
const call = (given: Partial<ModelUse> = {}): ModelUse => ({
  ...{ run: 'run', messages: 1, tokens: 10, costUsd: 0.5 },
  ...given,
});
const counted = (...calls: ModelUse[]): QuotaRecord =>
  calls.reduce((record, use) => countUse(record, use, NOON), NOTHING);

test('calls of all turns add up; a second attempt at a call, even a late one, counts nothing', () => {
  const all = [call(), call({ messages: 3 }), call({ run: 'other' }), call({ messages: 3 }), call()];
  expect(counted(...all).use).toEqual({ day: '2026-11-24', tokens: 30, costUsd: 1.5, unpriced: 0 });
});

test('a new day begins with nothing, and a machine of the server whose clock lags adds to it', () => {
  const begun = countUse(counted(call()), call({ messages: 2, tokens: 7 }), NOON + DAY_MS);
  expect(countUse(begun, call({ run: 'late' }), NOON + DAY_MS / 2 - 1).use).toEqual({
    ...{ day: '2026-11-25', tokens: 17, costUsd: 1, unpriced: 0 },
  });
});

test('a day that is years ahead, as a worker with a wrong clock left it, holds up nobody: today begins with nothing', () => {
  const ahead: QuotaRecord = {
    ...NOTHING,
    use: { day: '2036-01-01', tokens: 9_000, costUsd: 9, unpriced: 0 },
  };
  expect(usedAt(ahead.use, NOON)).toEqual({ day: '2026-11-24', tokens: 0, costUsd: 0, unpriced: 0 });
  expect(countUse(ahead, call(), NOON).use).toMatchObject({ day: '2026-11-24', tokens: 10 });
});

test('a second attempt after midnight counts nothing', () => {
  const again = countUse(counted(call()), call(), NOON + DAY_MS);
  expect(again.use).toMatchObject({ day: '2026-11-24', tokens: 10 });
});

test('a call without a price is counted as such, and costs nothing', () => {
  expect(counted(call({ costUsd: null })).use).toMatchObject({ tokens: 10, costUsd: 0, unpriced: 1 });
});

test('what it remembers of turns does not grow beyond the newest of them', () => {
  const many = counted(...Array.from({ length: 2_500 }, (_, run) => call({ run: `run-${run}` })));
  expect(many.use?.tokens).toBe(25_000);
  expect(many.counted).toHaveLength(2_000);
  expect(countUse(many, call({ run: 'run-2499' }), NOON).use).toEqual(many.use);
});

test('the use of an earlier day is none of today', () => {
  const { use } = counted(call());
  expect(usedAt(use, NOON).tokens).toBe(10);
  expect(usedAt(use, NOON + DAY_MS).tokens).toBe(0);
  expect(usedAt(null, NOON + DAY_MS).tokens).toBe(0);
});

test('a day is that of UTC', () => {
  const beforeMidnight = Date.UTC(2026, 10, 24, 23, 59, 59, 999);
  expect([dayOf(beforeMidnight), dayOf(beforeMidnight + 1)]).toEqual(['2026-11-24', '2026-11-25']);
  expect(nextDayMs(beforeMidnight)).toBe(beforeMidnight + 1);
  expect(nextDayMs(beforeMidnight + 1)).toBe(beforeMidnight + 1 + DAY_MS);
});

test.each([
  [{ tokens: 11, costUsd: null }, undefined],
  [
    { tokens: 10, costUsd: null },
    { got: '10 tokens', allowed: '10 tokens' },
  ],
  [{ tokens: null, costUsd: 0.51 }, undefined],
  [
    { tokens: null, costUsd: 0.25 },
    { got: '$0.50', allowed: '$0.25' },
  ],
  [{ tokens: null, costUsd: null }, undefined],
])('with %j, 10 tokens for half a dollar reach: %j', (limits, reached) => {
  expect(reachedOf(limits, usedAt(counted(call()).use, NOON))).toEqual(reached);
});

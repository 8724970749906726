import {
  countUse,
  dayOf,
  nextDayMs,
  reachedOf,
  usedOn,
  type ModelUse,
  type QuotaRecord,
} from '../../../contracts/models/daily-quota';

const NOTHING: QuotaRecord = { use: null, counted: [] };
const call = (given: Partial<ModelUse> = {}): ModelUse => ({
  ...{ day: '2026-11-24', run: 'run', messages: 1, tokens: 10, costUsd: 0.5 },
  ...given,
});
const counted = (...calls: ModelUse[]): QuotaRecord => calls.reduce(countUse, NOTHING);

test('calls of all turns add up; a second attempt at a call, even a late one, counts nothing', () => {
  const all = [call(), call({ messages: 3 }), call({ run: 'other' }), call({ messages: 3 }), call()];
  expect(counted(...all).use).toEqual({ day: '2026-11-24', tokens: 30, costUsd: 1.5, unpriced: 0 });
});

test('a new day begins with nothing, and a worker whose clock lags adds to it', () => {
  const late = call({ run: 'late' });
  expect(counted(call(), call({ day: '2026-11-25', messages: 2, tokens: 7 }), late).use).toEqual({
    ...{ day: '2026-11-25', tokens: 17, costUsd: 1, unpriced: 0 },
  });
});

test('a second attempt after midnight counts nothing', () => {
  expect(counted(call(), call({ day: '2026-11-25' })).use).toMatchObject({ day: '2026-11-24', tokens: 10 });
});

test('a call without a price is counted as such, and costs nothing', () => {
  expect(counted(call({ costUsd: null })).use).toMatchObject({ tokens: 10, costUsd: 0, unpriced: 1 });
});

test('what it remembers of turns does not grow beyond the newest of them', () => {
  const many = counted(...Array.from({ length: 2_500 }, (_, run) => call({ run: `run-${run}` })));
  expect(many.use?.tokens).toBe(25_000);
  expect(many.counted).toHaveLength(2_000);
  expect(countUse(many, call({ run: 'run-2499' })).use).toEqual(many.use);
});

test('the use of an earlier day is none of today', () => {
  const { use } = counted(call());
  expect(usedOn(use, '2026-11-24').tokens).toBe(10);
  expect(usedOn(use, '2026-11-25').tokens).toBe(0);
  expect(usedOn(null, '2026-11-25').tokens).toBe(0);
});

test('a day is that of UTC', () => {
  const beforeMidnight = Date.UTC(2026, 10, 24, 23, 59, 59, 999);
  expect([dayOf(beforeMidnight), dayOf(beforeMidnight + 1)]).toEqual(['2026-11-24', '2026-11-25']);
  expect(nextDayMs(beforeMidnight)).toBe(beforeMidnight + 1);
  expect(nextDayMs(beforeMidnight + 1)).toBe(beforeMidnight + 1 + 86_400_000);
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
  expect(reachedOf(limits, usedOn(counted(call()).use, '2026-11-24'))).toEqual(reached);
});

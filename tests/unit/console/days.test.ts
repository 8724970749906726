// Usage by day, as it is plotted.
import { daysOf } from '../../../console/parts/days/days';

const line = (key: string, tokens: number, costUsd: number | null): Parameters<typeof daysOf>[0][number] => ({
  ...{ key, inputTokens: tokens, outputTokens: 1, cachedTokens: 0, costUsd },
});

test('days come in order, in UTC, and those without usage are 0, over the end of a month and of summer time', () => {
  const { days, tokens, dollars } = daysOf([line('2026-11-01', 5, null), line('2026-10-24', 9, 0.5)]);
  expect(days.map((day) => new Date(day * 1_000).toISOString())).toEqual(
    ['10-24', '10-25', '10-26', '10-27', '10-28', '10-29', '10-30', '10-31', '11-01'].map(
      (day) => `2026-${day}T00:00:00.000Z`,
    ),
  );
  expect(tokens).toEqual([10, 0, 0, 0, 0, 0, 0, 0, 6]);
  expect(dollars).toEqual([0.5, 0, 0, 0, 0, 0, 0, 0, null]);
});

test('without usage there are no days', () => {
  expect(daysOf([]).days).toEqual([]);
});

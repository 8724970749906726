// Which refusals get a line in the audit log.
import { RefusalCount } from '../../../gateway/access/refusal-count';

const HOUR_MS = 3_600_000;

test('of a source a hundred refusals of an hour have a line each, then each that doubles their number', () => {
  let now = 0;
  const refusals = new RefusalCount(() => now);
  const lines = Array.from({ length: 1_000 }, () => refusals.add('a')).filter(({ hasLine }) => hasLine);
  expect(lines.filter(({ refusals: count }) => count === undefined)).toHaveLength(100);
  expect(lines.slice(100).map(({ refusals: count }) => count)).toEqual([200, 400, 800]);
  expect(refusals.add('b')).toEqual({ hasLine: true });
  now = HOUR_MS;
  expect(refusals.add('a')).toEqual({ hasLine: true });
});

test('with more sources than there are places, the lines of all together stay few', () => {
  let now = 0;
  const refusals = new RefusalCount(() => now);
  const linesOf = (sources: number, times: number): number => {
    let lines = 0;
    for (let source = 0; source < sources; source++)
      for (let n = 0; n < times; n++) if (refusals.add(`s${source}`).hasLine) lines++;
    return lines;
  };
  expect(linesOf(10_000, 10)).toBeLessThan(50 * 10 + 100 + 20);
  now = HOUR_MS;
  // Places are free again.
  expect(linesOf(50, 10)).toBe(500);
});

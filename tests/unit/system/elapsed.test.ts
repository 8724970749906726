import { ageOf, LONG_AGO, thisMoment } from '../../../system/elapsed';

afterEach(() => jest.restoreAllMocks());

test('an answer is old once either clock says so, as after a suspension, and when the wall clock was set back', () => {
  const at = thisMoment();
  const wall = jest.spyOn(Date, 'now');
  const steady = jest.spyOn(performance, 'now');
  const ageAfter = (wallMs: number, steadyMs: number): number => {
    wall.mockReturnValue(at.wall + wallMs);
    steady.mockReturnValue(at.steady + steadyMs);
    return ageOf(at);
  };
  expect(ageAfter(1_000, 1_000)).toBe(1_000);
  expect(ageAfter(3_600_000, 1_000)).toBe(3_600_000);
  expect(ageAfter(0, 1_000)).toBe(1_000);
  expect(ageAfter(-7_200_000, 1_000)).toBe(Infinity);
  expect(ageOf(LONG_AGO)).toBe(Infinity);
});

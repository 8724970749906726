// The other half of the usual schedules: new ones in each run. What one finds is printed with its seed.
import { count } from '../helpers/run/long-run';
import { playSchedules } from './play-schedules';

const HOUR_MS = 3_600_000;

test(
  'no order of events at random breaks a guarantee',
  async () => {
    const seed = 1_000_000 + Math.floor(Math.random() * 1_000_000_000);
    expect(await playSchedules(seed, count(1_000, 250_000))).toMatch(/^\d+ schedules broke no rule/);
  },
  12 * HOUR_MS,
);

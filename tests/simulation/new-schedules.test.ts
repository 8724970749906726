// The other half of the usual schedules: new ones in each run. What one finds is printed with its seed.
import { count } from '../helpers/run/long-run';
import { reportOf, simulate } from './schedules/simulate';
import { shippedCode } from './worker/workflow-code';

const HOUR_MS = 3_600_000;

test(
  'no order of events at random breaks a guarantee',
  async () => {
    const seed = 1_000_000 + Math.floor(Math.random() * 1_000_000_000);
    const found = await simulate({ code: shippedCode(), seed, schedules: count(1_000, 250_000) });
    expect(found ? reportOf(found) : 'no rule was broken').toBe('no rule was broken');
  },
  12 * HOUR_MS,
);

// Half of the usual schedules: the same in each run.
import { count } from '../helpers/run/long-run';
import { reportOf, simulate } from './schedules/simulate';
import { shippedCode } from './worker/workflow-code';

const HOUR_MS = 3_600_000;

test(
  'no order of events that is known to be hard breaks a guarantee',
  async () => {
    const found = await simulate({ code: shippedCode(), seed: 1, schedules: count(1_000, 250_000) });
    expect(found ? reportOf(found) : 'no rule was broken').toBe('no rule was broken');
  },
  12 * HOUR_MS,
);

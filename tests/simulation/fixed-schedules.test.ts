// Half of the usual schedules: the same in each run.
import { count } from '../helpers/run/long-run';
import { playSchedules } from './play-schedules';

const HOUR_MS = 3_600_000;

test(
  'no order of events that is known to be hard breaks a guarantee',
  async () => expect(await playSchedules(1, count(1_000, 250_000))).toMatch(/^\d+ schedules broke no rule/),
  12 * HOUR_MS,
);

// Schedules of faults that a seed makes; the same seed makes the same one: `npm run test:faults -- --seed 7 --rounds 1`.
import { count } from '../../helpers/run/long-run';
import { possibleFaults } from './fault-injector';
import { violationsOf } from './history';
import { runSchedule } from './run-schedule';
import { scheduleOf, type Schedule } from './schedule';

const FIRST_SEED = Number(process.env.HOLDFAST_FAULT_SEED ?? 1);
const ROUNDS = Number(process.env.HOLDFAST_FAULT_ROUNDS ?? count(2, 200));

/** To find the parts of a schedule that matter: the numbers of the faults and workers that stay. */
function kept(schedule: Schedule): Schedule {
  const only = <T>(all: T[], numbers: string | undefined): T[] =>
    numbers === undefined ? all : all.filter((_, index) => numbers.split(',').includes(String(index)));
  return {
    ...schedule,
    faults: only(schedule.faults, process.env.HOLDFAST_FAULT_FAULTS),
    workers: only(schedule.workers, process.env.HOLDFAST_FAULT_WORKERS),
  };
}

test.each(Array.from({ length: ROUNDS }, (_, round) => FIRST_SEED + round))(
  'no promise is broken by the faults of seed %i',
  async (seed) => {
    const schedule = kept(scheduleOf(seed, possibleFaults));
    const { history, events } = await runSchedule(schedule);
    const violations = violationsOf(history);
    if (violations.length > 0)
      throw new Error(
        [
          `Seed ${seed}:`,
          ...violations.map(({ rule, what }) => `- ${rule}: ${what}`),
          JSON.stringify(schedule, null, 1),
          ...events,
        ].join('\n'),
      );
  },
  400_000,
);

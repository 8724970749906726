// Schedules of faults that a seed makes; the same seed makes the same one: `npm run test:faults -- --seed 7 --rounds 1`.
import { count } from '../../helpers/run/long-run';
import { possibleFaults } from './fault-injector';
import { violationsOf } from './history';
import { runSchedule, type Finished } from './run-schedule';
import { scheduleOf, type Fault, type Schedule } from './schedule';

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

function expectNoViolation(schedule: Schedule, { history, events }: Finished): void {
  const violations = violationsOf(history);
  if (violations.length === 0) return;
  throw new Error(
    [
      `Seed ${schedule.seed}:`,
      ...violations.map(({ rule, what }) => `- ${rule}: ${what}`),
      JSON.stringify(schedule, null, 1),
      ...events,
    ].join('\n'),
  );
}

test.each(Array.from({ length: ROUNDS }, (_, round) => FIRST_SEED + round))(
  'no promise is broken by the faults of seed %i',
  async (seed) => {
    const schedule = kept(scheduleOf(seed, possibleFaults));
    expectNoViolation(schedule, await runSchedule(schedule));
  },
  400_000,
);

const STEPS = Array.from({ length: 12 }, (_, step) => step);

test('each kind of fault meets what it is meant for', async () => {
  const fault: Omit<Fault, 'kind'> = {
    afterMs: 500,
    forMs: 200,
    which: 0,
    point: 'command-arrived',
    isPatient: true,
  };
  const schedule: Schedule = {
    seed: 0,
    faults: possibleFaults.map((kind) => ({ kind, ...fault })),
    workers: [
      {
        kind: 'session',
        id: 'w0',
        steps: STEPS.map((n) => ({
          kind: 'command',
          id: `w0.${n}`,
          beforeMs: 1_000,
          afterMs: 1_000,
          exit: 0,
        })),
      },
      {
        kind: 'agent',
        id: 'w1',
        steps: STEPS.map((n) => ({ kind: 'tool', id: `w1.${n}`, tool: 'mcp__effects__effect', ms: 1_000 })),
        child: [],
      },
    ],
  };
  const finished = await runSchedule(schedule);
  expectNoViolation(schedule, finished);
  expect(possibleFaults.filter((kind) => !finished.hits.has(kind))).toEqual([]);
}, 400_000);

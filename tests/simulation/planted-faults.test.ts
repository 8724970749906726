// What the simulation is worth: it finds each guard that is taken out of the shipped workflows.
import { PLANTED_FAULTS, withFault } from './planted-faults';
import { play } from './schedules/play';
import { simulate } from './schedules/simulate';
import { STORIES } from './stories';
import { shippedCode, shippedText, WorkflowCode } from './worker/workflow-code';

const MOST_SCHEDULES = 3_000;
const LONG_MS = 600_000;

test.each(PLANTED_FAULTS)(
  'the simulation finds a guard that is missing: $name',
  async (fault) => {
    const code = new WorkflowCode(withFault(shippedText(), fault));
    const found = await simulate({ code, seed: 1, schedules: MOST_SCHEDULES, shrinks: false });
    expect(found?.violation).toBeDefined();
    console.log(`${fault.name}: after ${found?.played} schedules, by the rule "${found?.violation.rule}"`);
  },
  LONG_MS,
);

test.each(STORIES)(
  'a story that broke a guarantee breaks none any more: $name',
  async ({ without, schedule }) => {
    expect(await play(schedule, shippedCode())).toBeUndefined();
    const fault = PLANTED_FAULTS.find(({ name }) => name === without);
    if (!fault) throw new Error(`there is no planted fault ${without}`);
    expect(await play(schedule, new WorkflowCode(withFault(shippedText(), fault)))).toBeDefined();
  },
);

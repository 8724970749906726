// What the simulation is worth: it finds each guard that is taken out of the shipped workflows.
import { PLANTED_FAULTS, withFault } from './planted-faults';
import { findPlantedFaults } from './play-schedules';
import { play } from './schedules/play';
import { STORIES } from './stories';
import { shippedCode, shippedText, WorkflowCode } from './worker/workflow-code';

const MOST_SCHEDULES = 3_000;
const LONG_MS = 1_800_000;

test(
  'the simulation finds each guard that is missing',
  async () => {
    const found = await findPlantedFaults(1, MOST_SCHEDULES);
    console.log(found.join('\n'));
    expect(found.map((line) => line.replace(/: .*/, ''))).toEqual(PLANTED_FAULTS.map(({ name }) => name));
    expect(found.filter((line) => line.endsWith('not found'))).toEqual([]);
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

// Plays a schedule in a world of its own, and says which rule it broke.
import type { Violation } from '../rules/rule';
import { brokenRule } from '../rules/rules';
import type { WorkflowCode } from '../worker/workflow-code';
import { World } from '../world/world';
import { FAULTS } from './faults';
import { Person } from './person';
import type { Schedule, Step } from './schedule';

/** @param told is called with all that happens */
export async function play(
  schedule: Schedule,
  code: WorkflowCode,
  told?: (line: string, at: number) => void,
): Promise<Violation | undefined> {
  const { weight, suggestAt, steps, isTraced = false, agent } = schedule;
  const world = new World({ code, weight, suggestAt, isTraced, ...(told && { told }) });
  // Half a world consists of errors, and none of their traces is read.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    const person = new Person(world, agent);
    for (const step of steps) {
      told?.(`> ${JSON.stringify(step)}`, world.agenda.nowMs);
      await carryOut(step, world, person);
    }
    told?.('> all faults are over', world.agenda.nowMs);
    await world.settle();
    return await brokenRule(world);
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
    await world.end();
  }
}

async function carryOut(step: Step, world: World, person: Person): Promise<void> {
  const { do: name } = step;
  if (name in FAULTS) await FAULTS[name as keyof typeof FAULTS](world, step as never);
  else await person.acts[name as keyof Person['acts']](step as never);
}

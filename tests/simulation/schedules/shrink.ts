// The shortest story of a violation: parts of its schedule are left out as long as the same rule breaks.
import type { Violation } from '../rules/rule';
import type { Schedule, Step } from './schedule';

type Play = (schedule: Schedule) => Promise<Violation | undefined>;

/** @param mostPlays after which the shortest so far is good enough */
export async function shrink(
  schedule: Schedule,
  { rule }: Violation,
  play: Play,
  mostPlays = 400,
): Promise<Schedule> {
  let plays = 0;
  const stillBreaks = async (steps: Step[]): Promise<boolean> => {
    plays += 1;
    const violation = await play({ ...schedule, steps });
    return violation?.rule === rule;
  };
  let { steps } = schedule;
  for (let size = Math.ceil(steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < steps.length && plays < mostPlays;) {
      const fewer = [...steps.slice(0, at), ...steps.slice(at + size)];
      if (await stillBreaks(fewer)) steps = fewer;
      else at += size;
    }
  }
  for (const [index, step] of steps.entries()) {
    if (step.do !== 'go' || plays >= mostPlays) continue;
    const picks = await fewestPicks(step.picks, (some) =>
      stillBreaks(steps.with(index, { do: 'go', picks: some })),
    );
    steps = steps.with(index, { do: 'go', picks });
  }
  return { ...schedule, steps };
}

async function fewestPicks(
  picks: number[],
  stillBreaks: (picks: number[]) => Promise<boolean>,
): Promise<number[]> {
  let fewest = picks;
  for (let at = 0; at < fewest.length;) {
    const fewer = fewest.toSpliced(at, 1);
    if (await stillBreaks(fewer)) fewest = fewer;
    else at += 1;
  }
  return fewest;
}

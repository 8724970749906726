// A schedule as a person reads it: a line for each thing that happened, with its time.
import type { WorkflowCode } from '../worker/workflow-code';
import { play } from './play';
import type { Schedule } from './schedule';

/** What says nothing about an order. */
const NOISE = / beats$/;

/** @param all also what is left out usually */
export async function storyOf(schedule: Schedule, code: WorkflowCode, all = false): Promise<string> {
  const lines: string[] = [];
  let began: number | undefined;
  await play(schedule, code, (line, at) => {
    began ??= at;
    if (all || !NOISE.test(line)) lines.push(`${timeOf(at - began)}  ${line}`);
  });
  return lines.join('\n');
}

/** Minutes, seconds and milliseconds since the beginning. */
function timeOf(ms: number): string {
  const [minutes, seconds] = [Math.floor(ms / 60_000), Math.floor(ms / 1_000) % 60];
  return `${String(minutes).padStart(3)}:${String(seconds).padStart(2, '0')}.${String(ms % 1_000).padStart(3, '0')}`;
}

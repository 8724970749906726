// Plays schedules in a process of their own: Jest's sandbox makes the workflow runtime five times slower.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../../system/package-root';

const SCRIPT = join(packageRoot(), 'scripts', 'simulate.js');

/** What the process prints at its end: how many schedules broke no rule, or the story of one that did. */
export async function playSchedules(seed: number, schedules: number): Promise<string> {
  const { stdout, stderr } = await simulated(seed, schedules);
  return stderr || (stdout.trimEnd().split('\n').at(-1) ?? '');
}

/** After how many schedules each guard was missed that was taken out: a line each. */
export async function findPlantedFaults(seed: number, most: number): Promise<string[]> {
  const { stdout, stderr } = await simulated(seed, most, '--planted');
  return `${stdout}${stderr}`.trimEnd().split('\n');
}

const simulated = (
  seed: number,
  schedules: number,
  ...options: string[]
): Promise<{ stdout: string; stderr: string }> =>
  promisify(execFile)(
    process.execPath,
    [SCRIPT, '--seed', String(seed), '--schedules', String(schedules), ...options],
    { maxBuffer: 2 ** 26 },
  ).catch((err: unknown) => err as { stdout: string; stderr: string });

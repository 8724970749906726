// Plays schedules in a process of their own: Jest's sandbox makes the workflow runtime five times slower.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../../system/package-root';

const SCRIPT = join(packageRoot(), 'scripts', 'simulate.js');

/** What the process prints at its end: how many schedules broke no rule, or the story of one that did. */
export async function playSchedules(seed: number, schedules: number): Promise<string> {
  const args = [SCRIPT, '--seed', String(seed), '--schedules', String(schedules)];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { maxBuffer: 2 ** 26 }).catch(
    (err: unknown) => err as { stdout: string; stderr: string },
  );
  return stderr || (stdout.trimEnd().split('\n').at(-1) ?? '');
}

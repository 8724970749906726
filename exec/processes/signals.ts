// Signals to processes that may be gone at any moment, and waiting until they are.
import { isRunning } from '../../system/processes/proc';

const POLL_MS = 5;

/** False if there is no such process, or it is not ours to signal. */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

/**
 * Last first, that is, farthest from the root first: the kernel continues stopped processes whose group loses the
 * parent that could have done so (HUP and CONT, setpgid(2)), and none of these may run before its own KILL.
 */
export function killAll(pids: readonly number[]): void {
  for (const pid of pids.toReversed()) signal(pid, 'SIGKILL');
}

/** Resolves with those that still run after `withinMs`. */
export async function gone(pids: number[], withinMs: number): Promise<number[]> {
  const until = performance.now() + withinMs;
  let left = pids.filter(isRunning);
  while (left.length > 0 && performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    left = left.filter(isRunning);
  }
  return left;
}

// Who a process is: a pid alone may have been given to another since.
import { execFileSync } from 'node:child_process';
import { readText } from './proc';

export interface Identity {
  pid: number;
  /** Clock ticks since boot on Linux; a date elsewhere. */
  startTime: string;
  bootId: string;
}

/** Throws when the process does not exist. */
export function identityOf(pid: number): Identity {
  const startTime = startTimeOf(pid);
  if (startTime === undefined) throw new Error(`no process ${pid}`);
  return { pid, startTime, bootId: (readText('/proc/sys/kernel/random/boot_id') ?? '').trim() };
}

/** True while this very process runs; a zombie counts as gone. */
export function isAlive({ pid, startTime, bootId }: Identity): boolean {
  return (
    startTimeOf(pid) === startTime && (readText('/proc/sys/kernel/random/boot_id') ?? '').trim() === bootId
  );
}

function startTimeOf(pid: number): string | undefined {
  if (process.platform !== 'linux') {
    try {
      return (
        execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || undefined
      );
    } catch {
      return undefined;
    }
  }
  const stat = readText(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // proc(5): field 3 is the state, 20 the number of threads, 22 the start time; the name before may hold anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // A killed process shows as a zombie while its other threads still hold its files and ports (up to 18 ms seen).
  const isGone = fields[0] === 'X' || (fields[0] === 'Z' && Number(fields[17]) <= 1);
  return isGone ? undefined : fields[19];
}

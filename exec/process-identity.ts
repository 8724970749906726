// Who a process is: a pid alone may have been given to another since.
import { execFileSync } from 'node:child_process';
import { livingStat, readOrFail } from './proc';

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
  return { pid, startTime, bootId: currentBoot() };
}

/** Of those that exist. */
export function identitiesOf(pids: readonly number[]): Identity[] {
  return pids.flatMap((pid) => {
    try {
      return [identityOf(pid)];
    } catch {
      return [];
    }
  });
}

/**
 * True while this very process runs; a zombie counts as gone. Throws `resources_exhausted` where nobody can say: one that
 * lives must not be taken for dead because no file can be opened.
 */
export function isAlive({ pid, startTime, bootId }: Identity): boolean {
  return startTimeOf(pid) === startTime && currentBoot() === bootId;
}

let boot: string | undefined;

function currentBoot(): string {
  if (boot !== undefined) return boot;
  boot = (readOrFail('/proc/sys/kernel/random/boot_id') ?? '').trim();
  return boot;
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
  return livingStat(pid, readOrFail)?.startTime;
}

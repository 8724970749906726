// Identifies a process: a pid alone may have been reused.
import { execFileSync } from 'node:child_process';
import { livingStat, readOrFail, readText } from './proc';

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

/** Skips processes that do not exist. */
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
 * True while this exact process runs; a zombie counts as gone. Throws `resources_exhausted` if that cannot be
 * determined: a living process must not be taken for dead because no file can be opened.
 */
export function isAlive({ pid, startTime, bootId }: Identity): boolean {
  return startTimeOf(pid) === startTime && currentBoot() === bootId;
}

/** False also in a copy of the folder with its record: whatever was started with it does not run here. */
export const isOfThisBoot = ({ bootId }: Identity): boolean => currentBoot() === bootId;

/** Identifies this machine whatever its name and boot; empty where there is none, as in many containers and on macOS. */
export const machineId = (): string => (readText('/etc/machine-id') ?? '').trim();

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

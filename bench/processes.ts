// The cost of processes, from Linux's /proc (proc(5)).
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { HolderRecord } from '../exec/client/holder-client';
import type { SessionRef } from '../contracts/ids';
import { readJson } from '../system/json-file';
import { descendantsOf, isRunning, readText } from '../system/processes/proc';
import { sessionPaths } from '../exec/session-paths';

const SAMPLE_MS = 20;

export function holderPid(dataDir: string, ref: SessionRef): number {
  const record = readJson<HolderRecord>(sessionPaths(dataDir, ref).holder);
  if (!record) throw new Error(`session ${ref.session} of ${ref.agent} has no holder`);
  return record.identity.pid;
}

/** The holder and everything running in its session. */
export function sessionProcesses(dataDir: string, ref: SessionRef): number[] {
  const holder = holderPid(dataDir, ref);
  return [holder, ...descendantsOf(holder)];
}

/** Resident memory in MB. */
export const residentMb = (pid: number): number => kilobytes(`/proc/${pid}/status`, 'VmRSS') / 1e3;

/** Memory in MB; shared pages count proportionally. */
export const proportionalMb = (pids: number[]): number =>
  pids.reduce((sum, pid) => sum + kilobytes(`/proc/${pid}/smaps_rollup`, 'Pss'), 0) / 1e3;

function kilobytes(path: string, field: string): number {
  const match = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readFileSync(path, 'latin1'));
  return (Number(match?.[1]) * 1024) / 1e3;
}

/** Processor time of all of them in seconds, to the nanosecond: the ticks of /proc/PID/stat are 10 ms each. */
export function cpuSeconds(pids: number[]): number {
  const threads = pids.flatMap((pid) =>
    readdirSync(`/proc/${pid}/task`).map((tid) => `/proc/${pid}/task/${tid}`),
  );
  // The first field of schedstat is the time spent on a processor (Documentation/scheduler/sched-stats.rst). A thread may
  // have ended since it was listed.
  const times = threads.map((thread) => Number(readText(`${thread}/schedstat`)?.split(' ')[0] ?? 0));
  return times.reduce((sum, each) => sum + each, 0) / 1e9;
}

/** The most resident memory in MB that each process had while `work` ran. */
export async function peakMb(pids: number[], work: () => Promise<unknown>): Promise<number[]> {
  const peaks = pids.map(residentMb);
  const sample = (): void =>
    pids.forEach((pid, index) => {
      // An interrupted bench ends them during the measurement.
      if (isRunning(pid)) peaks[index] = Math.max(peaks[index] ?? 0, residentMb(pid));
    });
  const timer = setInterval(sample, SAMPLE_MS);
  try {
    await work();
    sample();
  } finally {
    clearInterval(timer);
  }
  return peaks;
}

/** Percentage of one core that each group of processes takes over this many seconds. */
export async function cpuPercent(seconds: number, groups: number[][]): Promise<number[]> {
  const before = groups.map(cpuSeconds);
  const began = performance.now();
  await delay(seconds * 1e3);
  const took = (performance.now() - began) / 1e3;
  return groups.map((pids, index) => ((cpuSeconds(pids) - (before[index] ?? 0)) / took) * 100);
}

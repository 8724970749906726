// Inspects the processes of sessions from outside, only through /proc, and waits for facts about them.
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { segmentsOf } from '../../../exec/output/log-segments';
import { listNumeric, readLink } from '../../../system/processes/proc';
import type { TestHost } from '../../helpers/terminals/session-host';
import { holderRecord } from '../../helpers/terminals/holder-record';

/** Living processes whose working folder or command line holds one of `marks`. */
export function processesMarked(...marks: string[]): string[] {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      // Of the kernel, or a zombie.
      if (line === '') return [];
      const folder = readlinkSync(`/proc/${pid}/cwd`);
      return marks.some((mark) => line.includes(mark) || folder.startsWith(mark)) ? [`${pid} ${line}`] : [];
    } catch {
      return [];
    }
  });
}

/** Polls until `isTrue` or the time is up; returns the last value. */
export async function eventually<T>(
  read: () => T | Promise<T>,
  isTrue: (value: T) => boolean,
  withinMs = 30_000,
): Promise<T> {
  const until = Date.now() + withinMs;
  let value = await read();
  for (let pause = 10; !isTrue(value) && Date.now() < until; pause = Math.min(pause * 1.5, 100)) {
    await delay(pause);
    value = await read();
  }
  return value;
}

/** The marked processes that are still there after two seconds. */
export const survivors = (...marks: string[]): Promise<string[]> =>
  eventually(
    () => processesMarked(...marks),
    (found) => found.length === 0,
    2_000,
  );

/** Ends the host with all of its sessions; fails when a process of theirs is left. */
export async function endWithoutTrace(t: TestHost): Promise<void> {
  await t.end();
  const left = (): string[] => processesMarked(t.dataDir, t.cwd);
  expect(await eventually(left, (found) => found.length === 0)).toEqual([]);
}

/** The bytes of the log's files, concatenated. */
export const logOf = (t: TestHost, ref = t.ref): Buffer =>
  Buffer.concat(segmentsOf(t.host.logPath(ref)).map(({ path }) => readFileSync(path)));

/** Ends what runs in the session and begins a new epoch. */
export async function reset(t: TestHost, ref = t.ref, reason: string | null = null): Promise<void> {
  await t.host.reset(ref, { id: `reset-${process.hrtime.bigint()}`, reason, by: 'reset' });
}

/** A session of the same agent with a new number. */
export const otherSession = (t: TestHost, session: number): TestHost['ref'] => ({ ...t.ref, session });

/** User and system time of a process in clock ticks of 10 ms (proc(5), fields 14 and 15). */
export function cpuTicks(pid: string | number | undefined): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

/** The targets of a process's descriptors. */
export const linksOf = (pid: string | number | undefined): string[] =>
  listNumeric(`/proc/${pid}/fd`).flatMap((fd) => readLink(`/proc/${pid}/fd/${fd}`) ?? []);

/** Process id of a session's holder. */
export const holderOf = (t: TestHost, ref = t.ref): number => holderRecord(t, ref).identity.pid;

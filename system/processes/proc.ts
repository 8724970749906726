// Reads Linux's /proc: process states, children, namespaces. Functions return undefined or nothing for a process that
// is gone or inaccessible, and on systems without /proc.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { asStorageFailure } from '../storage-failure';

export interface ProcessStat {
  pid: number;
  state: string;
  parent: number;
  group: number;
  session: number;
  /** Foreground process group of its terminal; -1 without one. */
  foregroundGroup: number;
  threads: number;
  /** Clock ticks since boot. */
  startTime: string;
}

/** Parses /proc/PID/stat (proc(5)); the command name in parentheses may hold spaces and parentheses. */
export function processStat(pid: number, read = readText): ProcessStat | undefined {
  const text = read(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  // Fields from number 3, the state: field 20 is the number of threads, 22 the start time.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, parent, group, session, , foregroundGroup] = fields;
  return {
    pid,
    state: state ?? '?',
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    foregroundGroup: Number(foregroundGroup),
    threads: Number(fields[17]),
    startTime: fields[19] ?? '',
  };
}

export function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** Like `readText`. Throws `resources_exhausted` if no file can be opened: then the answer is unknown. */
export function readOrFail(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (err) {
    const failure = asStorageFailure(err);
    if (failure instanceof HoldfastError && failure.code === 'resources_exhausted') throw failure;
    return undefined;
  }
}

export function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

export function listNumeric(path: string): number[] {
  try {
    return readdirSync(path)
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

export function childrenOf(pid: number): number[] {
  return listNumeric(`/proc/${pid}/task`).flatMap((thread) =>
    (readText(`/proc/${pid}/task/${thread}/children`) ?? '').split(' ').filter(Boolean).map(Number),
  );
}

/** All descendants of `root`, nearest first, without `root` itself. */
export function descendantsOf(root: number): number[] {
  const found: number[] = [];
  for (let queue = childrenOf(root); queue.length > 0;) {
    found.push(...queue);
    queue = queue.flatMap(childrenOf);
  }
  return found;
}

/**
 * A process that runs or still holds something; undefined for one that is gone. A zombie is gone, except while its
 * other threads still hold files and ports (up to 18 ms seen after a kill).
 */
export function livingStat(pid: number, read = readText): ProcessStat | undefined {
  const stat = processStat(pid, read);
  const isGone = !stat || stat.state === 'X' || (stat.state === 'Z' && stat.threads <= 1);
  return isGone ? undefined : stat;
}

/** By SIGSTOP or a debugger: it goes on when somebody lets it, and not before. */
export const isStopped = (pid: number): boolean => /^[tT]$/.test(livingStat(pid)?.state ?? '');

export const isRunning = (pid: number): boolean => livingStat(pid) !== undefined;

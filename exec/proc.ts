// Reads Linux's /proc: process states, children, namespaces. Everything answers undefined or empty for a
// process that is gone or may not be looked at, and on systems without /proc.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface ProcessStat {
  pid: number;
  state: string;
  parent: number;
  group: number;
  session: number;
  /** Foreground process group of its terminal; -1 without one. */
  foregroundGroup: number;
}

/** Parses /proc/PID/stat (proc(5)); the command name in parentheses may hold spaces and parentheses. */
export function processStat(pid: number): ProcessStat | undefined {
  const text = readText(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  const [state, parent, group, session, , foregroundGroup] = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return {
    pid,
    state: state ?? '?',
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    foregroundGroup: Number(foregroundGroup),
  };
}

export function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch {
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

/** All descendants of `root`, nearest first, without itself. */
export function descendantsOf(root: number): number[] {
  const found: number[] = [];
  for (let queue = childrenOf(root); queue.length > 0;) {
    found.push(...queue);
    queue = queue.flatMap(childrenOf);
  }
  return found;
}

/** A zombie holds nothing and runs nothing: it does not count as living. */
export function isRunning(pid: number): boolean {
  const stat = processStat(pid);
  return stat !== undefined && stat.state !== 'Z' && stat.state !== 'X';
}

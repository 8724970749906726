// Looks at the host's files for a sandbox.
import { lstatSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Look } from './mounts';

export const hostLook: Look = { kind, sockets };

/** Undefined also for what nobody in the sandbox could get to: nothing can be mounted there, and nothing need be. */
function kind(path: string): 'folder' | 'file' | 'link' | undefined {
  try {
    if (!isReachable(dirname(path))) return undefined;
    const stat = lstatSync(path);
    if (stat.isSymbolicLink()) return 'link';
    return stat.isDirectory() ? 'folder' : 'file';
  } catch {
    return undefined;
  }
}

/** Whether this user may go there without the capabilities that root has outside. */
function isReachable(folder: string): boolean {
  const { mode, uid, gid } = statSync(folder);
  const groups = [process.getegid?.(), ...(process.getgroups?.() ?? [])];
  const bit = uid === process.geteuid?.() ? 0o100 : groups.includes(gid) ? 0o010 : 0o001;
  return (mode & bit) !== 0 && (folder === '/' || isReachable(dirname(folder)));
}

/** Those of this network namespace, as proc_net(5) lists them; an abstract one has no file. */
function sockets(): string[] {
  try {
    const lines = readFileSync('/proc/net/unix', 'utf8').split('\n');
    const paths = lines.map((line) => /^\S+ \S+ \S+ 00010000 .* (\/.*)$/.exec(line)?.[1]);
    return [...new Set(paths.filter((path) => path !== undefined))];
  } catch {
    return [];
  }
}

// Looks at the host's files for a sandbox.
import { lstatSync, readFileSync } from 'node:fs';
import type { Look } from './mounts';

export const hostLook: Look = { kind, sockets };

function kind(path: string): 'folder' | 'file' | 'link' | undefined {
  try {
    const stat = lstatSync(path);
    if (stat.isSymbolicLink()) return 'link';
    return stat.isDirectory() ? 'folder' : 'file';
  } catch {
    return undefined;
  }
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

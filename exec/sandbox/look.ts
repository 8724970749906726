// Inspects the host's files for a sandbox.
import { lstatSync, readFileSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import type { Permissions } from '../../contracts/workspaces/file-reach';
import { listNumeric, readLink } from '../../system/processes/proc';
import type { Look } from './mounts';

export const hostLook: Look = { kind, sockets };

/**
 * Undefined also for a path that cannot be reached in the sandbox: nothing can be mounted there, and nothing need be.
 */
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

/** Whether this user may enter it without the capabilities that root has outside. */
const isReachable = (folder: string): boolean =>
  isPermitted(statSync(folder), 'enter') && (folder === '/' || isReachable(dirname(folder)));

/** Whether a path's folders may be entered by this user without capabilities. */
export function canEnter(path: string): boolean {
  try {
    return isReachable(dirname(path));
  } catch {
    return false;
  }
}

const PERMISSIONS = { read: 0o4, enter: 0o1 };

/** Whether a mode allows this user something, without the capabilities that root has outside. */
export function isPermitted({ mode, uid, gid }: Permissions, what: keyof typeof PERMISSIONS): boolean {
  const groups = [process.getegid?.(), ...(process.getgroups?.() ?? [])];
  const shift = uid === process.geteuid?.() ? 6 : groups.includes(gid) ? 3 : 0;
  return (mode & (PERMISSIONS[what] << shift)) !== 0;
}

/** A line for a listening socket: number, type, state, inode, path. */
const LISTENS = /^\S+ \S+ \S+ 00010000 \S+ \S+ +(\d+) (.+)$/;

/**
 * A socket bound by a relative path is listed by that path: it lies in the folder that was its server's working folder,
 * and usually still is. Servers with an unreadable working folder are skipped.
 */
function besideTheirServers(sockets: readonly { inode: string; path: string }[]): string[] {
  const paths = new Map(sockets.map(({ inode, path }) => [`socket:[${inode}]`, path]));
  return listNumeric('/proc').flatMap((pid) => {
    const own = listNumeric(`/proc/${pid}/fd`).map((fd) =>
      paths.get(readLink(`/proc/${pid}/fd/${fd}`) ?? ''),
    );
    const found = own.filter((path) => path !== undefined);
    const folder = found.length > 0 && readLink(`/proc/${pid}/cwd`);
    return folder ? found.map((path) => join(folder, path)).filter(isSocket) : [];
  });
}

const isSocket = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isSocket() ?? false;

/** Sockets of this network namespace, as listed by proc_net(5); abstract ones have no file. */
function sockets(): string[] {
  try {
    const lines = readFileSync('/proc/net/unix', 'utf8').split('\n');
    const listed = lines.flatMap((line) => {
      const [, inode = '', path = ''] = LISTENS.exec(line) ?? [];
      return path === '' || path.startsWith('@') ? [] : [{ inode, path }];
    });
    const relative = listed.filter(({ path }) => !isAbsolute(path));
    const absolute = listed.filter(({ path }) => isAbsolute(path)).map(({ path }) => path);
    return [...new Set([...absolute, ...(relative.length === 0 ? [] : besideTheirServers(relative))])];
  } catch {
    return [];
  }
}

// The one place that decides whether an agent may read or write a path of its host. The worker asks it wherever it reads or
// writes files for an agent itself, so that an agent never gets by way of the worker what its own commands may not do.
import type { CoveredPath, FileAccess, FileReach } from '../contracts/workspaces/file-reach';
import { isOwnData } from './own-folder';
import { isWithin, real } from './real-path';
import { canEnter, hostLook, isPermitted } from './sandbox/look';
import { accessTo, mountsOf, type Access } from './sandbox/mounts';
import type { SandboxProfile } from './sandbox/profile';

/**
 * @param profile of the agent; undefined: its commands run without a sandbox
 * @returns a snapshot: what is hidden or mounted later is not in it
 */
export const fileReach = (dataDir: string, profile: SandboxProfile | undefined): FileReach =>
  profile ? confinedReach(profile) : openReach(dataDir);

/** Of a private folder each shell has one of its own: the host's files there are hidden. */
const ACCESS: Record<Access, FileAccess> = { private: 'none', hidden: 'none', read: 'read', write: 'write' };

function confinedReach(profile: SandboxProfile): FileReach {
  const mounts = mountsOf(profile, hostLook);
  const accessOf = accessTo(mounts);
  const sockets = new Set(hostLook.sockets());
  // The sandbox has no capabilities, the worker may have all.
  const access = (path: string): FileAccess => (canEnter(path) ? ACCESS[accessOf(path) ?? 'read'] : 'none');
  return {
    limit: 'the sandbox',
    outside:
      'it lies outside of the folders that the sandbox lets the agent write, so its commands see it read-only or not ' +
      'at all; `writable` in [sandbox] adds it',
    access,
    mayRead: (path, file) => access(path) !== 'none' && isPermitted(file, 'read'),
    coveredIn: (folder) =>
      mounts
        .filter(({ path }) => path !== folder && isWithin(path, folder))
        .map(({ path, access }) => ({ path, access: ACCESS[access], isSocket: sockets.has(path) })),
  };
}

function openReach(dataDir: string): FileReach {
  const data = real(dataDir);
  const covered: CoveredPath = { path: data, access: 'none', isSocket: false };
  const access = (path: string): FileAccess => (isOwnData(data, path) ? 'none' : 'write');
  return {
    limit: "Holdfast's data folder",
    outside: "it is in Holdfast's data folder, where only the folders in `work` and `trees` have checkpoints",
    access,
    mayRead: (path) => access(path) !== 'none',
    coveredIn: (folder) => (data !== folder && isWithin(data, folder) ? [covered] : []),
  };
}

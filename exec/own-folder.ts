// Which folders of a data folder are for programs: those of agents that work in one of their own, among others. Only
// checked ids become part of these paths.
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { HoldfastError } from '../contracts/errors/holdfast-error';
import { checkedId, type SessionRef } from '../contracts/ids';
import { isWithin, real } from './real-path';
import type { SandboxProfile } from './sandbox/profile';
import { usualWorkingFolder } from './working-folder';

type Owner = Pick<SessionRef, 'agent' | 'host'>;

export const ownFolders = (dataDir: string, host: string): string =>
  join(dataDir, 'trees', checkedId('host', host));
export const ownFolder = (dataDir: string, { agent, host }: Owner): string =>
  join(ownFolders(dataDir, host), checkedId('agent', agent));

/** The usual working folder, the demo's, and those of agents that have one. */
const FOR_PROGRAMS = /^(?:work|demo|trees\/[^/]+\/[^/]+)(?:\/|$)/;

/** Whether Holdfast keeps its own files in `folder`: it is the data folder, or in it and not for programs. */
export function isOwnData(dataDir: string, folder: string): boolean {
  const [data, path] = [real(dataDir), real(folder)];
  return isWithin(path, data) && !FOR_PROGRAMS.test(relative(data, path));
}

/** Throws `invalid_input` for a folder in which shells may not begin: `rm -rf *` would remove records of commands. */
export function refuseOwnData(dataDir: string, folder: string): void {
  if (!isOwnData(dataDir, folder)) return;
  throw new HoldfastError('invalid_input', {
    what: 'The folder that shells begin in',
    got: `${folder}, where Holdfast keeps its own files`,
    allowed: `${usualWorkingFolder(dataDir)}, or a folder outside of ${dataDir}`,
    next: 'Name another one: `holdfast host serve` takes --root, `holdfast up` takes --workdir or --no-workdir.',
  });
}

/**
 * What an agent's shells and tools may do: where it has a folder of its own, that is all that they may write. What
 * others may write is readable for it.
 */
export function profileOf(profile: SandboxProfile, owner: Owner): SandboxProfile {
  const folder = ownFolder(profile.dataDir, owner);
  if (!existsSync(folder)) return profile;
  const { workspace, writable, readable } = profile;
  return { ...profile, workspace: folder, writable: [], readable: [...readable, workspace, ...writable] };
}

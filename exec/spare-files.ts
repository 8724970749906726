// The files of a spare: a holder that waits for a session. Written by the host, read by the holder.
import type { TreeKill } from '../contracts/sessions/session';
import { removeQuietly } from '../system/json-file';
import type { Identity } from '../system/processes/process-identity';
import type { SandboxProfile } from './sandbox/profile';

/** Configuration of a spare, besides its folder. */
export interface SpareConfig {
  cwd: string;
  env: Record<string, string>;
  treeKill: TreeKill;
  sandbox?: SandboxProfile | undefined;
  /** The process that started the spare. */
  starter?: Identity;
}

/** Files beside the folder of a spare's shell. */
export const spareFiles = (directory: string): { config: string; log: string; owner: string } => ({
  config: `${directory}.json`,
  log: `${directory}.log`,
  owner: `${directory}.owner`,
});

/** Removes the folder of its shell and the files beside it. */
export function removeSpare(directory: string): void {
  for (const path of [directory, ...Object.values(spareFiles(directory))]) removeQuietly(path);
}

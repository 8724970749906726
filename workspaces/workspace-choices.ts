// What is asked of the workspaces of a host, and what is answered. Pure.
import type { FileChanges, MovedFiles } from '../contracts/workspaces/checkpoints';
import type { FileReach } from '../contracts/workspaces/file-reach';
import type { CheckpointSettings } from '../contracts/workspaces/settings';
import type { MergeConflict } from './changes/merge-files';

export interface WorkspacesOptions {
  /** Where the store of this host lies: a folder of its own, outside of all workspaces. */
  folder: string;
  settings: CheckpointSettings;
  /** What an agent may read and write: nothing else is recorded or changed for it. */
  reachOf: (agent: string) => FileReach;
  log: (message: string, facts: object) => void;
}

export interface WorkspaceOf {
  /** The workspace's folder. */
  cwd: string;
  /** For which checkpoints are kept. */
  agent: string;
  /** The agent that works there, whose reach counts. Default: `agent`. */
  owner?: string | undefined;
}

/** A request that a killed process may have carried out, and that is then repeated. */
interface Repeated {
  /** The same for each repetition, and for no other request, however equal. Undefined: it is not repeated. */
  key?: string | undefined;
}

export interface RewindChoice extends WorkspaceOf, Repeated {
  to: string;
  /** The last checkpoint that the caller knows of: what differs from it was changed by somebody else. */
  expected: string | null;
  /** Pairs of checkpoints between which somebody else changed files. */
  foreign: readonly (readonly [from: string | null, to: string])[];
  force: boolean;
  dryRun: boolean;
  /** Called when the files are as they should be, before the rewind counts as done. */
  onApplied?: () => Promise<void> | void;
}

export interface CheckoutChoice {
  hash: string;
  /** New or empty. */
  folder: string;
  agent: string;
  /** The workspace that it is a checkpoint of: what its owner may not read there any more is left out. */
  of: { cwd: string; owner: string };
}

export interface ApplyChoice extends WorkspaceOf, Repeated {
  base: string;
  theirs: string;
  dryRun: boolean;
}

export interface AppliedChanges {
  applied: FileChanges;
  conflicts: MergeConflict[];
  /** Files of theirs that no checkpoint holds. */
  leftOut: string[];
  movedAside?: MovedFiles;
  /** The state that the workspace has now, or would have. */
  hash: string;
}

// What is asked of the workspaces of a host, and what is answered. Pure.
import type { FileChanges } from '../contracts/workspaces/checkpoints';
import type { CheckpointSettings } from '../contracts/workspaces/settings';
import type { MergeConflict } from './changes/merge-files';

export interface WorkspacesOptions {
  /** Where the store of this host lies: a folder of its own, outside of all workspaces. */
  folder: string;
  settings: CheckpointSettings;
  /** Real paths that are never recorded, such as the data folder. */
  hidden: readonly string[];
  /** Whether Holdfast keeps its own files in a folder, by its real path. Such a folder has no checkpoints. */
  isOwnData: (root: string) => boolean;
  log: (message: string, facts: object) => void;
}

export interface WorkspaceOf {
  /** The workspace's folder. */
  cwd: string;
  agent: string;
}

export interface RewindChoice extends WorkspaceOf {
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
}

export interface ApplyChoice extends WorkspaceOf {
  base: string;
  theirs: string;
  dryRun: boolean;
}

export interface AppliedChanges {
  applied: FileChanges;
  conflicts: MergeConflict[];
  /** Files of theirs that no checkpoint holds. */
  leftOut: string[];
  /** The state that the workspace has now, or would have. */
  hash: string;
}

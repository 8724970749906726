// The activities of a host that concern workspaces, as workflows see them. Plain JSON, no I/O.
import type { CheckpointOutcome, FileChanges, RewoundFiles } from './checkpoints';
import type { LeftWorkspace, OwnWorkspace } from './own-workspaces';

/** The folder that an agent works in; `cwd` null: the host's own working folder. */
export interface WorkspaceOf {
  agent: string;
  cwd: string | null;
}

export interface CheckpointInput extends WorkspaceOf {
  /** Taken before a step, not after one: histories then show where its message stands. */
  before?: true;
}

export interface RewindFilesInput extends WorkspaceOf {
  /** Of the request: one that was carried out is answered again under it, an equal one under another is not. */
  key: string;
  /** The checkpoint to bring back. */
  to: string;
  /** The last known one: what differs from it was changed by somebody else. Null: none is known. */
  expected: string | null;
  /** Changes since `to` that are known to be somebody else's, as pairs of checkpoints. */
  foreign: (readonly [from: string, to: string])[];
  force: boolean;
  dryRun: boolean;
}

/** What the heartbeats of a rewind say: if its worker is killed, files may have been changed in part. */
export const REWIND_BEGAN = 'began';

export interface RewoundWorkspace {
  files: RewoundFiles;
  /** Sessions of the agent in which commands are running. */
  running: number[];
}

export interface CompareInput {
  agent: string;
  /** Null: an empty workspace. */
  from: string | null;
  to: string;
  /** Whether the changed lines are wanted, too. */
  lines: boolean;
}

export interface Comparison {
  changes: FileChanges;
  /** A unified diff; null if it was not asked for. */
  text: string | null;
  /** The diff is longer than what fits into an answer. */
  isCut: boolean;
}

export interface MakeWorkspaceInput {
  agent: string;
  /** First run of this incarnation of the agent: the folder of an earlier one is another one. */
  born: string;
  /** The folder that it begins as a copy of; null: the host's own working folder. */
  of: string | null;
  /** The agent that works there: what it cannot read is not copied. */
  owner: string;
  /** Null: what is there now. */
  hash: string | null;
  /** Who is to get what it leaves; null: the folder stays. */
  for: string | null;
}

export interface LeaveWorkspaceInput {
  agent: string;
  /** As when it was made. */
  born?: string | undefined;
  base: string;
  /** Who is to get what it leaves; null: the folder stays. */
  for: string | null;
}

export interface KeepCheckpointsInput {
  agent: string;
  hashes: readonly string[];
}

export interface WorkspaceActivities {
  /** Never fails for a disk, a limit or git: the outcome says so. */
  checkpointWorkspace(input: CheckpointInput): Promise<CheckpointOutcome>;
  /** Throws `workspace_changed` and `checkpoint_missing`; then nothing was changed. */
  rewindWorkspace(input: RewindFilesInput): Promise<RewoundWorkspace>;
  /** Keeps checkpoints of another agent for this one, too, as far as they are in the store. */
  keepCheckpoints(input: KeepCheckpointsInput): Promise<void>;
  /** Throws `checkpoint_missing`. */
  compareCheckpoints(input: CompareInput): Promise<Comparison>;
  /** Repeated, it finds what it made. Throws `checkpoint_missing` and `workspace_failed`. */
  makeWorkspace(input: MakeWorkspaceInput): Promise<OwnWorkspace>;
  /**
   * Takes the last checkpoint of an agent's own workspace, and removes the folder if somebody else gets the changes, all
   * of which it holds. Repeated, it gives the same answer. Throws `workspace_failed` and `checkpoint_missing`.
   */
  leaveWorkspace(input: LeaveWorkspaceInput): Promise<LeftWorkspace>;
}

// A folder of an agent's own: it begins as a copy of another workspace. Plain JSON, no I/O.
import type { ChangeCounts, FileChanges, MovedFiles, SkippedFile } from './checkpoints';

/** Where a sub-agent works: in its parent's folder, or in a copy of it. */
export const WORKSPACES = ['shared', 'own'] as const;

export interface OwnWorkspace {
  folder: string;
  base: string;
}

/** What an agent with a workspace of its own leaves: two checkpoints of its host, and what differs between them. */
export interface LeftWorkspace {
  base: string;
  hash: string;
  counts: ChangeCounts;
  /** Its folder, which stays: files in it are in no checkpoint. Absent: it is removed, or the changes go to no one. */
  folder?: string;
}

/** Brings the changes between two checkpoints into a workspace. */
export interface ApplyRequest {
  /** The call's key: repeated under it, the call gives the same answer. */
  key: string;
  agent: string;
  cwd: string | null;
  base: string;
  theirs: string;
  dryRun: boolean;
}

/** What became of changes that were brought into another workspace: all of them, or, with conflicts, none. */
export interface AppliedChanges {
  applied: FileChanges;
  conflicts: SkippedFile[];
  /** Files that the checkpoint does not hold, so that nothing was done with them. */
  leftOut: string[];
  /** As in `RewoundFiles`. */
  movedAside?: MovedFiles;
}

// What the files of a workspace were at a moment, and how they differ from another one. Plain JSON, no I/O.

export interface ChangeCounts {
  added: number;
  modified: number;
  deleted: number;
}

/** One path that differs between two checkpoints: a file, a link or an empty folder. */
export interface FileChange {
  /** Relative to the workspace; bytes that are not UTF-8 are shown as U+FFFD. */
  path: string;
  /** `modified`: its content, its mode or what it is. */
  kind: 'added' | 'modified' | 'deleted';
  /** Lines; absent for what is not text. */
  insertions?: number;
  deletions?: number;
}

/** What differs between two checkpoints. */
export interface FileChanges {
  counts: ChangeCounts;
  /** Sorted by path; only the first ones if there are many. */
  paths: FileChange[];
  /** How many more there are. */
  omitted: number;
}

/** A file that no checkpoint holds, and why: a socket, a device, too large. */
export interface SkippedFile {
  path: string;
  why: string;
}

/** A recorded state of a workspace. */
export interface Checkpoint {
  /** Id of the commit in the host's store: the same files have the same id. */
  hash: string;
  files: number;
  bytes: number;
  /** Against the last checkpoint of the workspace; null for the first one. */
  changes: ChangeCounts | null;
  /** What was left out: the number, and the first few. Absent: nothing. */
  skipped?: { count: number; first: SkippedFile[] };
}

/** `off`: this workspace has no checkpoints. `missing`: this one could not be taken; the next one may be. */
export type CheckpointOutcome =
  ({ state: 'kept' } & Checkpoint) | { state: 'off' | 'missing'; reason: string };

/** What is in no checkpoint and was in the way of files. */
export interface MovedFiles {
  count: number;
  /** The first few: where each was, and where it is. */
  first: { path: string; to: string }[];
}

/** What a rewind did to the files, or would do. */
export interface RewoundFiles {
  /** The state that the workspace has now. */
  hash: string;
  /** The state that it had before: a rewind to it undoes this one. */
  before: string;
  changes: FileChanges;
  /**
   * Files that are not as they were then, because no checkpoint holds them or the agent may not change them: the number, and
   * the first few. Absent: none.
   */
  notRestored?: { count: number; first: SkippedFile[] };
  /** It comes back when a rewind frees its place. Absent: nothing; a look does not know. */
  movedAside?: MovedFiles;
}

// Which files of a host an agent may reach: the port between the sandbox, which knows, and everything that reads or writes
// files for an agent outside of it. Pure.

/** `none` is also what exists but is hidden. */
export type FileAccess = 'none' | 'read' | 'write';

/** A path with an access of its own, such as a folder that the sandbox hides. */
export interface CoveredPath {
  /** Real path. */
  path: string;
  access: FileAccess;
  /** It comes and goes with a server. */
  isSocket: boolean;
}

/** The permissions of a file, as stat(2) gives them. */
export interface Permissions {
  mode: number;
  uid: number;
  gid: number;
}

/**
 * What one agent may do with the files of its host: what its sandbox allows, and without a sandbox everything except
 * Holdfast's own data. Paths must be real: a link is decided by what it leads to.
 */
export interface FileReach {
  /** What keeps an agent from the rest, for messages. */
  readonly limit: string;
  /** Why a folder that it may not write has no checkpoints: "it is …". */
  readonly outside: string;
  access: (path: string) => FileAccess;
  /** Whether it may read an open file, which lies there. */
  mayRead: (path: string, file: Permissions) => boolean;
  /** The paths below a folder whose access is not simply that of the folder. */
  coveredIn: (folder: string) => CoveredPath[];
}

/** The reach of a look that is no agent's. */
export const WITHOUT_LIMITS: FileReach = {
  limit: 'nothing',
  outside: '',
  access: () => 'write',
  mayRead: () => true,
  coveredIn: () => [],
};

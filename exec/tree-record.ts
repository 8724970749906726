// How to find the processes of a session's current shell. Written by its holder, so that the host can end them when the
// holder does not answer.
import { identitiesOf, identityOf, type Identity } from '../system/processes/process-identity';
import { readProcessRecord, writeProcessRecord } from '../system/processes/process-record';
import type { SessionPaths } from './session-paths';

export interface TreeRecord {
  holder: Identity;
  /** The terminal's leader. */
  leader: Identity;
  /** A text in the environment of everything that the shell started. */
  mark: string;
  /** A text in the command line of the shell and its copies. */
  ownShell: string;
}

/** If it cannot be written, the holder's children show nearly as much. */
export function recordTree(
  { tree }: SessionPaths,
  { leader, mark, ownShell }: Pick<TreeRecord, 'mark' | 'ownShell'> & { leader: number },
): void {
  const [identity] = identitiesOf([leader]);
  const holder = identityOf(process.pid);
  try {
    if (identity) writeProcessRecord(tree, { holder, leader: identity, mark, ownShell } satisfies TreeRecord);
  } catch {
    // Other writes to the same disk report this as `degraded`.
  }
}

export const readTree = ({ tree }: SessionPaths): TreeRecord | undefined =>
  readProcessRecord<TreeRecord>(tree);

// What a holder is started with, and what it reports if it cannot start. Written by the host, read by the holder.
import type { ErrorCode, ErrorFacts } from '../contracts/errors/holdfast-error';
import type { Containment, TreeKill } from '../contracts/sessions/session';
import type { SandboxProfile } from './sandbox/profile';

/** The configuration that a holder is started with, in its session's folder; readable by this user only. */
export interface HolderConfig {
  session: number;
  socketPath: string;
  token: string;
  cwd: string;
  env: Record<string, string>;
  treeKill: TreeKill;
  /** What its shells may do; absent if they may do everything that their user may. */
  sandbox?: SandboxProfile | undefined;
  owner?: string | undefined;
  /** Maximum size of its log, in bytes. Absent: the default. */
  logBytes?: number | undefined;
}

/** What a holder reports instead of being ready. */
export interface HolderFailure {
  failed: { code: ErrorCode; facts: ErrorFacts };
}

/** How the shells of a host are kept together and isolated. */
export const containment = ({
  treeKill,
  sandbox,
}: Pick<HolderConfig, 'treeKill' | 'sandbox'>): Containment => ({
  treeKill,
  ...(sandbox && { sandbox: sandbox.kind }),
});

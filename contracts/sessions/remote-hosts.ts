// What is known about hosts: each one's description of itself, and whether it is online. Plain JSON, no I/O.
import type { TreeKill } from './session';

/** What is allowed on a host: everything; only reading output and ending commands; nothing. */
export const ACCESS = ['read-write', 'read-only', 'off'] as const;
export type Access = (typeof ACCESS)[number];

/** Version of the host's activities. A host with another version is not called: neither side understands the other. */
export const HOST_PROTOCOL = 1;

/** What a host announces when it connects, and whenever it changes. */
export interface HostFacts {
  /** One process of the host; a new process replaces it. */
  instance: string;
  version: string;
  protocol: number;
  access: Access;
  /** Where its shells start. */
  root: string;
  treeKill: TreeKill;
  /** Null: code runs as the host's user. */
  sandbox: string | null;
  /** What it can do beyond the protocol's minimum, for example `attach`. */
  capabilities: string[];
  /** Where it takes connections for `attach` and live output; null: it is followed through Temporal. */
  listens: { address: string; fingerprint: string } | null;
}

/** The answer to the query `state` of the workflow `host`. */
export interface HostState {
  host: string;
  status: 'online' | 'offline';
  /** When that status began; ISO 8601. */
  since: string;
  /** Why it is offline. */
  reason: string | null;
  /** From the last time it was online; null before the first. */
  facts: HostFacts | null;
  /** Where its sessions' workflows are. */
  namespace: string;
  refused: string[];
}

/** Input of the workflow `host`: empty, or the namespace of a host in another trust domain. */
export interface HostInput {
  namespace?: string;
}

/** Input and result of the activity `holdLease`, which lasts as long as the host is online. */
export interface LeaseInput {
  instance: string;
}
export interface LeaseEnd {
  reason: string;
}

/** The host's own side of its presence, on `host.<name>`. */
export interface PresenceActivities {
  /** Heartbeats as long as this process of the host lives. */
  holdLease(input: LeaseInput): Promise<LeaseEnd>;
}

// What is known of hosts: what each says of itself, and whether it is there. Plain JSON, no I/O.
import type { TreeKill } from './session';

/** What code may do on a host: everything; be looked at and ended; nothing. */
export const ACCESS = ['read-write', 'read-only', 'off'] as const;
export type Access = (typeof ACCESS)[number];

/** Of the host's activities. A host of another one is not asked: neither side knows what the other means. */
export const HOST_PROTOCOL = 1;

/** What a host says of itself when it comes, and whenever that changes. */
export interface HostFacts {
  /** One process of the host; another one takes its place. */
  instance: string;
  version: string;
  protocol: number;
  access: Access;
  /** Where its shells begin. */
  root: string;
  treeKill: TreeKill;
  /** Null: code runs as the host's user. */
  sandbox: string | null;
  /** What it can do beyond the protocol's floor, for example `attach`. */
  capabilities: string[];
  /** Where it takes connections for `attach` and live output; null: it is followed through Temporal. */
  listens: { address: string; fingerprint: string } | null;
}

/** The answer of the query `state` of the workflow `host`. */
export interface HostState {
  host: string;
  status: 'online' | 'offline';
  /** In that status; ISO 8601. */
  since: string;
  /** Why it is offline. */
  reason: string | null;
  /** Of the last time that it was there; null before the first. */
  facts: HostFacts | null;
  /** Where its sessions' workflows are. */
  namespace: string;
  refused: string[];
}

/** Input of the workflow `host`: nothing, or of one in another trust domain its namespace. */
export interface HostInput {
  namespace?: string;
}

/** Input and result of the activity `holdLease`, which lasts as long as the host does. */
export interface LeaseInput {
  instance: string;
}
export interface LeaseEnd {
  reason: string;
}

/** The host's own side of its presence, on `host.<name>`. */
export interface PresenceActivities {
  /** Heartbeats as long as this process of the host is there. */
  holdLease(input: LeaseInput): Promise<LeaseEnd>;
}

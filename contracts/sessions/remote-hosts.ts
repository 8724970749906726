// The limits and versions of hosts, and the activities of their presence.

/** What is allowed on a host: everything; only reading output and ending commands; nothing. */
export const ACCESS = ['read-write', 'read-only', 'off'] as const;
export type Access = (typeof ACCESS)[number];

/** Version of the host's activities. A host with another version is not called: neither side understands the other. */
export const HOST_PROTOCOL = 1;

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

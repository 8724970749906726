// How many connections of each kind a process accepts, given its descriptor limit, so that enough descriptors remain
// for its own work.
import { readText } from './proc';

const USUAL_LIMIT = 1_024;
/** All calls that the scripts of a session may have open, and some that come and go. */
const MAX_CONNECTIONS = 1_024;
/** A connection identifies itself with its first request, which may be large. */
const IDENTIFY_MS = 10_000;

/** Limit of this process (getrlimit(2)). Node raises it as far as possible at start. */
function descriptorLimit(): number {
  const [, limit] = /^Max open files +(\d+|unlimited) /m.exec(readText('/proc/self/limits') ?? '') ?? [];
  return limit === 'unlimited' ? Infinity : Number(limit ?? USUAL_LIMIT);
}

export interface ConnectionBounds {
  /** Unidentified connections: scripts that begin many calls at once are briefly among them. */
  strangers: number;
  /** Connections of a session's scripts. */
  scripts: number;
  /** How long a stranger may take, in milliseconds. */
  identifyWithinMs: number;
}

/**
 * A stranger costs one descriptor at each of two sockets, a script up to three: it enters at a sandbox's socket and is
 * forwarded to the other. Together with a sandbox's proxy, which uses 512, there is room from a limit of 1,024 on.
 */
export function connectionBounds(limit = descriptorLimit()): ConnectionBounds {
  const each = Math.min(MAX_CONNECTIONS, Math.floor(limit / 12));
  return { strangers: each, scripts: each, identifyWithinMs: IDENTIFY_MS };
}

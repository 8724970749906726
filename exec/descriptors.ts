// How many connections of which kind a process may have, by the descriptors that it may have: none of them may use up
// those that it needs for its own work.
import { readText } from './proc';

const USUAL_LIMIT = 1_024;
/** As many calls as the scripts of a session may have open, and some that come and go. */
const MAX_CONNECTIONS = 1_024;
/** A connection says who it is with its first request, which may be large. */
const IDENTIFY_MS = 10_000;

/** Of this process (getrlimit(2)). Node has raised it as far as it may be when it started. */
function descriptorLimit(): number {
  const [, limit] = /^Max open files +(\d+|unlimited) /m.exec(readText('/proc/self/limits') ?? '') ?? [];
  return limit === 'unlimited' ? Infinity : Number(limit ?? USUAL_LIMIT);
}

export interface ConnectionBounds {
  /** Of those who have not said who they are: scripts that begin many calls at once are among them for a moment. */
  strangers: number;
  /** Of a session's scripts. */
  scripts: number;
  /** How long a stranger has, in milliseconds. */
  identifyWithinMs: number;
}

/**
 * A stranger costs one descriptor at each of two sockets, a script up to three: it comes in from a sandbox at one and
 * goes on to the other. With a sandbox's proxy, which takes 512, they leave room from 1,024 descriptors on.
 */
export function connectionBounds(limit = descriptorLimit()): ConnectionBounds {
  const each = Math.min(MAX_CONNECTIONS, Math.floor(limit / 12));
  return { strangers: each, scripts: each, identifyWithinMs: IDENTIFY_MS };
}

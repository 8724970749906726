// Which inputs were typed into which terminal, for all connections of this gateway: a client that comes back does not
// know whether its last input arrived, and sends it again.
import type { SessionRef } from '../../contracts/ids';

const MAX_SESSIONS = 1_000;
const MAX_INPUTS = 1_000;

export class TypedInputs {
  private readonly sessions = new Map<string, Set<string>>();

  /** False for an id that was taken before. Taken before it is typed: what is in doubt is not typed twice. */
  isFirst(ref: SessionRef, id: string): boolean {
    const key = keyOf(ref);
    const known = this.sessions.get(key) ?? new Set();
    if (known.has(id)) return false;
    dropOldest(known, MAX_INPUTS);
    known.add(id);
    // The session that was typed into last is the last to go.
    this.sessions.delete(key);
    dropOldest(this.sessions, MAX_SESSIONS);
    this.sessions.set(key, known);
    return true;
  }

  /** It did not reach the terminal: it may be sent again. */
  forget(ref: SessionRef, id: string): void {
    this.sessions.get(keyOf(ref))?.delete(id);
  }
}

const keyOf = ({ agent, host, session }: SessionRef): string => `${agent} ${host} ${session}`;

/** Makes room for one more. Sets and Maps keep the order of insertion. */
function dropOldest(kept: Set<string> | Map<string, unknown>, max: number): void {
  const [oldest] = kept.keys();
  if (kept.size >= max && oldest !== undefined) kept.delete(oldest);
}

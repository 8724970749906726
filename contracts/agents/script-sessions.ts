// The sessions that execute_python_code runs its scripts in. Pure, so that a workflow can say which one it will be.
import { fnv1a } from '../hash';

/** Numbers that agents do not choose, below those of exec_command. */
const FIRST_SESSION = 980_000;
const SESSIONS = 10_000;
const CANDIDATES = 8;
/** A prime that does not divide SESSIONS, so that the candidates differ. */
const STRIDE = 1_009;

/**
 * The sessions to try, in order, for a call that names none. They are derived from the call's key, so that a later
 * attempt finds the first one's session. The first of them is nearly always free.
 */
export function scriptSessions(key: string): number[] {
  const first = fnv1a(key);
  return Array.from(
    { length: CANDIDATES },
    (_, index) => FIRST_SESSION + ((first + index * STRIDE) % SESSIONS),
  );
}

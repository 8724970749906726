// How a session was ended that was not ended by its own workflow, for people and for programs.
import type { ClosedSession } from '../../exec/host/session-host';

/** `ended` is `closed`, `killed` (with its holder) or `failed`. */
export function closedSessionFacts({ ref, killed, survivors, failure }: ClosedSession): object {
  return {
    ...ref,
    ended: failure ? 'failed' : killed ? 'killed' : 'closed',
    ...(killed && { holderPid: killed.pid, why: killed.why }),
    ...((killed || survivors.length > 0) && { survivors }),
    ...(failure && { error: failure.toJSON() }),
  };
}

/** Nothing of a session that has ended as it should. */
export function closedSessionLine({ ref, killed, survivors, failure }: ClosedSession): string[] {
  const name = `session ${ref.session} of ${ref.agent} on ${ref.host}`;
  const left = survivors.length > 0 ? `; still running: pid ${survivors.join(', ')}` : '';
  if (failure) return [`${name} could not be ended: ${failure.message}`];
  if (killed) return [`${name} was killed with its holder (pid ${killed.pid}): ${killed.why}${left}`];
  return left ? [`${name} has ended, but not all of it${left}`] : [];
}

// The host activity input for a wait for several sessions. Pure.
import type { WaitForSessionsInput } from '../../contracts/sessions/host';
import type { SessionRef } from '../../contracts/ids';
import { label } from '../../contracts/text/labels';
import type { WaitRequest } from '../../contracts/schemas/session';

export const DEFAULT_WAIT_MS = 60_000;

/** One activity for all: waiting for many costs no more history than for one. */
export function waitOf(
  ref: SessionRef,
  { sessions = [ref.session], for: wait = 'exit', mode = 'all', waitMs = DEFAULT_WAIT_MS }: WaitRequest,
): { input: WaitForSessionsInput; summary: string } {
  const targets = sessions.map((target) =>
    typeof target === 'number'
      ? { session: target, from: null }
      : { session: target.session, from: target.from ?? null },
  );
  const numbers = targets.map(({ session }) => session).join(', ');
  return {
    input: { ref, targets, wait, mode, waitMs },
    summary: label(`wait for ${wait} of ${mode} of ${numbers}`),
  };
}

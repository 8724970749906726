// After its yield a command may not be looked at any more. Its session is notified when its program begins to wait for input,
// and that it no longer does: inboxes, lists and webhooks ask the session.
import type { CommandView } from '../../contracts/sessions/session';
import type { ObserveReason, Snapshot, Until } from '../../exec/protocol';

/** A wait that is answered within this time is not reported: the caller that polls or types already knows of it. */
const SETTLE_MS = 2_000;
/** How often a wait that is known is looked at: nothing announces that it is over. */
const WAITING_MS = 15_000;
/** The maximum for a timer. */
const FOR_EVER_MS = 2 ** 31 - 1;

/** What distinguishes a program's wait from the next one; null: it does not wait. */
export type KnownWait = string | null;

/** Differs from what any program waits for. */
export const NOT_KNOWN: KnownWait = 'not known';

export const waitIn = ({ waiting }: Pick<CommandView, 'waiting'>): KnownWait =>
  waiting && (waiting.since ?? '');

interface Look {
  reason: ObserveReason;
  snapshot: Snapshot;
}

export interface Follower {
  commandId: string;
  /** What the session knows by now, also by other ways. */
  known: () => KnownWait;
  observe: (until: Until) => Promise<Look>;
  report: (look: Look) => Promise<void>;
}

/** Resolves at once when the command has ended. */
export async function reportWaitsUntilExit({
  commandId,
  known,
  observe,
  report,
}: Follower): Promise<Snapshot> {
  const isOver = ({ reason, snapshot }: Look): boolean =>
    reason === 'exit' || snapshot.command?.id !== commandId;
  for (;;) {
    const first = await observe(
      known() === null
        ? { kind: 'needs_input', from: 0, timeoutMs: FOR_EVER_MS }
        : { kind: 'exit', from: 0, timeoutMs: WAITING_MS },
    );
    if (isOver(first)) return first.snapshot;
    if (waitIn(first.snapshot) === known()) continue;
    const later = await observe({ kind: 'exit', from: 0, timeoutMs: SETTLE_MS });
    if (isOver(later)) return later.snapshot;
    const wait = waitIn(later.snapshot);
    if (wait === waitIn(first.snapshot) && wait !== known()) await report(later);
  }
}

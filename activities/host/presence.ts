// The host's side of its lease: an activity that lasts as long as this process does.
import { Context } from '@temporalio/activity';
import type { LeaseEnd, LeaseInput, PresenceActivities } from '../../contracts/sessions/remote-hosts';

const BEAT_MS = 2_000;

export class Presence {
  /** Briefly two, when the server has given one up and this process has not heard of it yet. */
  private held = 0;
  private ended: (() => void) | undefined;

  constructor(readonly instance: string) {}

  /** Whether the server holds a lease with this process. */
  get holdsLease(): boolean {
    return this.held > 0;
  }

  /** The host is shutting down: its lease ends at once, not by timeout. */
  end(): void {
    this.ended?.();
  }

  get activities(): PresenceActivities {
    return { holdLease: (input) => this.hold(input) };
  }

  private async hold({ instance }: LeaseInput): Promise<LeaseEnd> {
    if (instance !== this.instance) return { reason: 'another process of the host replaced it' };
    const context = Context.current();
    context.heartbeat();
    const beat = setInterval(() => context.heartbeat(), BEAT_MS);
    this.held += 1;
    try {
      // Cancelled when the worker stops, or when the server has given up the lease.
      await new Promise<void>((resolve) => {
        this.ended = resolve;
        context.cancellationSignal.addEventListener('abort', () => resolve());
      });
      return { reason: 'it was stopped' };
    } finally {
      this.held -= 1;
      clearInterval(beat);
    }
  }
}

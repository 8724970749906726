// Calls that take longer than their update: their session is asked for their ends separately, in one update for all.
import { setTimeout as delay } from 'node:timers/promises';
import type { SessionHandle } from '../../client/session-handle';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { advance, isSlow, type CallState } from '../../contracts/tools/call-state';
import type { ToolOutcome } from '../../contracts/tools/tools';

const AGAIN_MS = 500;

export interface FollowedCall {
  id: string;
  state: CallState;
  /** Receives the outcome of a slow call. */
  settle?: (outcome: ToolOutcome) => void;
}

export class SlowCalls {
  /** @param open all calls of the session's scripts, whose states say which are slow */
  constructor(
    private readonly session: SessionHandle,
    private readonly open: ReadonlyMap<string, FollowedCall>,
    private readonly signal: AbortSignal,
  ) {}

  /** The outcome of a recorded call; rejects once it is not waited for any more. */
  outcomeOf(call: FollowedCall, over: AbortSignal): Promise<ToolOutcome> {
    return new Promise((resolve, reject) => {
      over.addEventListener('abort', () => reject(new Error('nobody waits for it')), { once: true });
      call.settle = resolve;
      advance(call, { type: 'slow' });
      if (this.ids.length === 1) void this.follow();
    });
  }

  private get ids(): string[] {
    return [...this.open.values()].filter(({ state }) => isSlow(state)).map(({ id }) => id);
  }

  private async follow(): Promise<void> {
    while (this.ids.length > 0 && !this.signal.aborted) {
      try {
        const { outcomes, unknown } = await this.session.toolResults({ ids: this.ids });
        for (const [id, outcome] of Object.entries(outcomes)) this.settle(id, outcome);
        for (const id of unknown) this.settle(id, notKnown(id).toOutcome());
      } catch (err) {
        if (err instanceof HoldfastError && !err.retryable)
          for (const id of this.ids) this.settle(id, err.toOutcome());
        else await delay(AGAIN_MS);
      }
    }
  }

  private settle(id: string, outcome: ToolOutcome): void {
    const call = this.open.get(id);
    if (call && isSlow(call.state) && advance(call, { type: 'ended', outcome })) call.settle?.(outcome);
  }
}

const notKnown = (id: string): HoldfastError =>
  new HoldfastError('unknown_outcome', { what: `call ${id}`, reason: 'its session no longer knows it' });

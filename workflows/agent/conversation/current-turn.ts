// The turn that an agent is working on, if any: what ends it early, and how.
import { CancellationScope, isCancellation } from '@temporalio/workflow';
import type { TurnResult } from '../../../contracts/agents/agent';
import { runTurn, type TurnOfAgent } from '../../turn/agent-turn';

export class CurrentTurn {
  private scope: CancellationScope | null = null;
  /** Null until it runs. */
  private signalIt: (() => Promise<void>) | null = null;
  private isInterrupted = false;

  /** One at a time. */
  async run(of: Omit<TurnOfAgent, 'started'>): Promise<TurnResult> {
    this.scope = new CancellationScope();
    const started = (interrupt: () => Promise<void>): void => {
      this.signalIt = interrupt;
      if (this.isInterrupted) void this.interrupt();
    };
    try {
      return await this.scope.run(() => runTurn({ ...of, started }));
    } catch (err) {
      // Only the turn is to end, and it has not begun: its agent goes on.
      const isOnlyTurn = isCancellation(err) && !CancellationScope.current().consideredCancelled;
      if (!isOnlyTurn || this.signalIt) throw err;
      return notBegun(of.message);
    } finally {
      this.signalIt = null;
      this.isInterrupted = false;
    }
  }

  /** Ends it before its next step, as soon as it runs. */
  async interrupt(): Promise<void> {
    this.isInterrupted = true;
    try {
      await this.signalIt?.();
    } catch {
      // It has just ended: the message is next anyway.
    }
  }

  /** Ends it at once. */
  cancel(): void {
    this.scope?.cancel();
  }
}

/** Of a turn that was stopped before it began: the conversation keeps its message. */
const notBegun = (text: string): TurnResult => ({
  ...{ answer: null, reason: 'stopped', error: null, steps: 0 },
  ...{ messages: [{ role: 'user', text }], sessions: [], calls: 0 },
});

// What an agent is doing: it is idle or works on a turn; it may be asked to recover or to stop; and it ends.
import type { AgentState } from '../../../contracts/agents/agent';

export class AgentPhase {
  /** What its turn is working on; null between turns. */
  message: string | null = null;
  /** Why its sessions are to be reset; null if they are not. */
  recoverReason: string | null = null;
  isEnded = false;
  /** A summary of the conversation is made, so that it can continue as new. */
  isSummingUp = false;
  private stopped: string | null = null;
  private shown: { status: AgentState['status']; since: Date } = { status: 'idle', since: new Date() };

  get isWorking(): boolean {
    return this.message !== null;
  }

  get isStopped(): boolean {
    return this.stopped !== null;
  }

  /** Undefined if it was not stopped. */
  get stopReason(): string | undefined {
    return this.stopped ?? undefined;
  }

  get isEnding(): boolean {
    return this.isEnded || this.isStopped;
  }

  get status(): AgentState['status'] {
    if (this.isEnded) return 'ended';
    if (this.isStopped) return 'stopping';
    return this.isWorking ? 'working' : 'idle';
  }

  /** When its page first showed the status that it shows now, in workflow time. */
  get since(): Date {
    return this.shown.since;
  }

  /** The first reason counts. */
  stop(reason: string): void {
    this.stopped ??= reason;
  }

  /** The page shows the status of now. */
  show(): void {
    const { status } = this;
    if (status !== this.shown.status) this.shown = { status, since: new Date() };
  }
}

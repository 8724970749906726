// How the last turn of a conversation ended, and whether a person still has to see to that.
import type { NoticeId } from '../../../contracts/agents/notices';
import { failureNotice, hasFailed } from '../../../contracts/agents/failures';
import type { AgentResult } from '../../../contracts/agents/agent';
import type { AgentPhase } from './agent-phase';
import { carriedResult, type ConversationRecord } from './conversation-record';

export class LastTurn {
  /** Null before the first one has ended. */
  result: AgentResult | null;
  private isDismissed: boolean;

  constructor(carried?: ConversationRecord) {
    this.result = carried?.lastResult ?? null;
    this.isDismissed = carried?.isDismissed ?? false;
  }

  /** What the next run needs. */
  get record(): Pick<ConversationRecord, 'lastResult' | 'isDismissed'> {
    return {
      lastResult: this.result && carriedResult(this.result),
      ...(this.isDismissed && { isDismissed: true }),
    };
  }

  /** It ended without what was asked for, and a person has neither dismissed that nor stopped the agent. */
  hasFailed({ isWorking, isStopped }: AgentPhase): boolean {
    return !isWorking && !isStopped && !this.isDismissed && hasFailed(this.result);
  }

  notices(phase: AgentPhase, turn: number): NoticeId[] {
    return this.result && this.hasFailed(phase) ? [failureNotice(turn, this.result)] : [];
  }

  ended(result: AgentResult): AgentResult {
    this.isDismissed = false;
    return (this.result = result);
  }

  /** False if there is nothing to dismiss. */
  dismiss(phase: AgentPhase): boolean {
    return (this.isDismissed ||= this.hasFailed(phase));
  }
}

// Pending approvals in an agent's turn and sessions. These report to the agent, which shows the approvals, notifies its turn,
// and forwards only answers to what is pending.
import { CancellationScope, getExternalWorkflowHandle, workflowInfo } from '@temporalio/workflow';
import type { Approval } from '../../contracts/tools/approvals';
import { agentWorkflowId, parseSessionWorkflowId } from '../../contracts/ids';
import type { OpenQuestion, QuestionsSignal } from '../../contracts/agents/questions';
import { cutValues } from '../../contracts/tools/shown-values';
import { AGENT_MESSAGES } from '../../contracts/messages/to-agents';
import { signalOf } from './definitions';

/** Limits for one value, and roughly for all, in a message between workflows. */
const SENT_CHARACTERS = 4_000;
const ALL_SENT_CHARACTERS = 64_000;
/** A message has the oldest of those that wait: as they are answered, the others follow. */
const MOST_SENT = 50;

/** Used by a session or a turn to report to its agent. */
export class QuestionsForAgent {
  /** Undefined: what the run before has reported. */
  private reported: string | undefined;
  private waiting: readonly Approval[] = [];
  private sending: Promise<void> | null = null;
  private onItsWay: Promise<void> | null = null;

  /** @param carried how many questions the run before has left */
  constructor(
    private readonly agent: string,
    carried = 0,
  ) {
    this.reported = carried > 0 ? undefined : '';
  }

  report(waiting: readonly Approval[]): void {
    const key = keyOf(waiting);
    if (key === this.reported) return;
    this.reported = key;
    this.waiting = waiting;
    this.sending ??= this.sendAll();
  }

  /**
   * Once all that are asked or answered at the same time are: a message for each change of one reply would together be more
   * than the server takes from a workflow task.
   */
  private async sendAll(): Promise<void> {
    await Promise.resolve();
    // Two on their way may overtake each other: the agent would take the older one for what is asked now.
    if (this.onItsWay) await this.onItsWay;
    this.sending = null;
    this.onItsWay = this.send(this.waiting.slice(0, MOST_SENT)).then(() => {
      this.onItsWay = null;
    });
  }

  private send(waiting: readonly Approval[]): Promise<void> {
    const { workflowId } = workflowInfo();
    const together = ALL_SENT_CHARACTERS / Math.max(1, waiting.length);
    const cut = waiting.map((one) => ({
      ...one,
      ...(one.values && { values: cutValues(one.values, { each: SENT_CHARACTERS, together }) }),
    }));
    return send(agentWorkflowId(this.agent), { workflowId, waiting: cut });
  }
}

const keyOf = (waiting: readonly Approval[]): string =>
  waiting.map(({ id, hash }) => `${id} ${hash}`).join('\n');

/** Independent of the asker, which may be cancelled. A command-line session has no agent, so a failure is ignored. */
function send(workflowId: string, signal: QuestionsSignal): Promise<void> {
  return CancellationScope.nonCancellable(() =>
    getExternalWorkflowHandle(workflowId).signal(signalOf(AGENT_MESSAGES.questions), signal),
  ).catch(() => undefined);
}

/** Used by the agent and by its turn. */
export class OpenQuestions {
  constructor(readonly record: Record<string, Approval[]> = {}) {}

  /** Approvals that have not expired: a terminated workflow never withdraws its own. */
  get open(): OpenQuestion[] {
    return Object.entries(this.record).flatMap(([workflowId, waiting]) =>
      waiting
        .filter(({ expiresAt }) => Date.parse(expiresAt) > Date.now())
        .map((one) => ({ ...one, workflowId })),
    );
  }

  /**
   * False unless the workflow is the agent's running turn or one of its sessions: others are neither shown nor forwarded. What a
   * turn asks may arrive after its end.
   */
  take({ workflowId, waiting }: QuestionsSignal, agent: string, turn: string | null): boolean {
    if (workflowId !== turn && parseSessionWorkflowId(workflowId)?.agent !== agent) return false;
    if (waiting.length > 0) this.record[workflowId] = waiting;
    else delete this.record[workflowId];
    return true;
  }

  /** Forgets those of a turn that has ended: it may not have withdrawn them. */
  forget(turn: string): void {
    delete this.record[turn];
  }

  /** Notifies the turn, whose page shows the approvals, too. */
  notifyTurn(turn: string | null, signal: QuestionsSignal): void {
    if (turn !== null && turn !== signal.workflowId) void send(turn, signal);
  }
}

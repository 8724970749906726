// What waits for a yes or no in an agent's turn and sessions: they tell the agent, which shows it, tells its turn, and
// hands answers on only for what waits.
import { CancellationScope, getExternalWorkflowHandle, patched, workflowInfo } from '@temporalio/workflow';
import type { Approval } from '../contracts/approvals';
import { agentWorkflowId, parseSessionWorkflowId } from '../contracts/ids';
import type { OpenQuestion, QuestionsSignal } from '../contracts/questions';
import { cutValues } from '../contracts/shown-values';
import { questionsSignal } from './agent-definitions';

/** Of one value, in what goes from workflow to workflow. */
const TOLD_CHARACTERS = 4_000;

/** In a session or a turn: tells its agent. */
export class QuestionsForAgent {
  private told = '';

  constructor(private readonly agent: string) {}

  tell(waiting: readonly Approval[]): void {
    const key = waiting.map(({ id, hash }) => `${id} ${hash}`).join('\n');
    if (key === this.told) return;
    this.told = key;
    // Since 0.3. Before, nobody was told; the old way may go when no session or turn of 0.2 is open.
    if (!patched('agent-is-told-of-questions')) return;
    const { workflowId } = workflowInfo();
    const cut = waiting.map((one) => ({
      ...one,
      ...(one.values && { values: cutValues(one.values, TOLD_CHARACTERS) }),
    }));
    send(agentWorkflowId(this.agent), { workflowId, waiting: cut });
  }
}

/** Not a part of whoever asks, who may be cancelled. A session of the command line has no agent, which is no fault. */
function send(workflowId: string, signal: QuestionsSignal): void {
  CancellationScope.nonCancellable(() =>
    getExternalWorkflowHandle(workflowId).signal(questionsSignal, signal),
  ).catch(() => undefined);
}

/** In the agent, and in its turn. */
export class OpenQuestions {
  constructor(readonly record: Record<string, Approval[]> = {}) {}

  /** Those that have not expired: a workflow that was terminated takes nothing back. */
  get open(): OpenQuestion[] {
    return Object.entries(this.record).flatMap(([workflowId, waiting]) =>
      waiting
        .filter(({ expiresAt }) => Date.parse(expiresAt) > Date.now())
        .map((one) => ({ ...one, workflowId })),
    );
  }

  /** Whether it is of the agent: nobody else's is shown or handed on. */
  take({ workflowId, waiting }: QuestionsSignal, agent: string): boolean {
    const isOfTurn = workflowId.startsWith(`${agentWorkflowId(agent)}/turn/`);
    if (!isOfTurn && parseSessionWorkflowId(workflowId)?.agent !== agent) return false;
    if (waiting.length > 0) this.record[workflowId] = waiting;
    else delete this.record[workflowId];
    return true;
  }

  /** Told to the turn, whose page shows it, too. */
  tellTurn(turn: string | null, signal: QuestionsSignal): void {
    if (turn !== null && turn !== signal.workflowId) send(turn, signal);
  }
}

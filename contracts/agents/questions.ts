// What is reported to an agent about the approvals that its turn and its sessions wait for. Plain JSON, no I/O.
import type { Approval } from '../tools/approvals';

/** Everything pending in one session or turn now; empty: nothing is pending any longer. */
export interface QuestionsSignal {
  workflowId: string;
  waiting: Approval[];
}

/** A pending approval, and the workflow that waits for it. */
export interface OpenQuestion extends Approval {
  workflowId: string;
}

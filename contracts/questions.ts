// What an agent is told of the approvals that its turn and its sessions wait for. Plain JSON, no I/O.
import type { Approval } from './approvals';

/** All that waits in one session or turn now; nothing: no more. */
export interface QuestionsSignal {
  workflowId: string;
  waiting: Approval[];
}

/** Something that waits, and the workflow in which it does. */
export interface OpenQuestion extends Approval {
  workflowId: string;
}

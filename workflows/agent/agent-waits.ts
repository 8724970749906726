// What an agent waits for, as lists show it.
import type { AgentState } from '../../contracts/agents/agent';
import { agentWorkflowId, turnWorkflowId } from '../../contracts/ids';
import type { OpenQuestion } from '../../contracts/agents/questions';
import type { Wait, WaitsFor } from '../../contracts/agents/waits';

interface Waiting {
  id: string;
  status: AgentState['status'];
  turns: number;
  /** When its status began; ISO 8601. */
  since: string;
  questions: readonly OpenQuestion[];
  /** Its last turn has failed, and that was not dismissed. */
  isFailed: boolean;
}

/** Null if it ends or has ended. */
export function waitOf({ id, status, turns, since, questions: [asked], isFailed }: Waiting): Wait | null {
  if (asked && status !== 'ended')
    return { for: 'approval', since: asked.askedAt, workflowId: asked.workflowId };
  if (status === 'working') return { for: 'turn', since, workflowId: turnWorkflowId(id, turns) };
  if (status !== 'idle') return null;
  return { for: isFailed ? 'retry' : 'message', since, workflowId: agentWorkflowId(id) };
}

/** As lists have it: a turn publishes its own waits. */
export function publishedWait(wait: Wait | null, isFailed: boolean): WaitsFor {
  const waitsFor = wait?.for ?? (isFailed ? 'retry' : 'none');
  return waitsFor === 'approval' || waitsFor === 'message' || waitsFor === 'retry' ? waitsFor : 'none';
}

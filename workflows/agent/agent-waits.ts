// What an agent waits for, as lists show it.
import type { AgentState } from '../../contracts/agents/agent';
import { agentWorkflowId, turnWorkflowId } from '../../contracts/ids';
import type { OpenQuestion } from '../../contracts/agents/questions';
import type { Wait } from '../../contracts/agents/waits';

interface Waiting {
  id: string;
  status: AgentState['status'];
  turns: number;
  /** When its status began; ISO 8601. */
  since: string;
  questions: readonly OpenQuestion[];
}

/** Null if it ends or has ended. */
export function waitOf({ id, status, turns, since, questions: [asked] }: Waiting): Wait | null {
  if (asked && status !== 'ended')
    return { for: 'approval', since: asked.askedAt, workflowId: asked.workflowId };
  if (status === 'working') return { for: 'turn', since, workflowId: turnWorkflowId(id, turns) };
  return status === 'idle' ? { for: 'message', since, workflowId: agentWorkflowId(id) } : null;
}

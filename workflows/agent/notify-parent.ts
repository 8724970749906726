// A sub-agent's final message to the agent that started it.
import { getExternalWorkflowHandle, workflowInfo } from '@temporalio/workflow';
import type { AgentResult } from '../../contracts/agents/agent';
import { AGENT_MESSAGES } from '../../contracts/messages/to-agents';
import { signalOf } from '../messages/definitions';

/** A parent that has continued as new learns of the end only through this. */
export async function notifyParent(agentId: string, result: AgentResult): Promise<void> {
  const parent = workflowInfo().parent?.workflowId;
  if (!parent || !/^agent\/[^/]+$/.test(parent)) return;
  try {
    await getExternalWorkflowHandle(parent).signal(signalOf(AGENT_MESSAGES.agentEnded), { agentId, result });
  } catch {
    // The parent has ended.
  }
}

// A sub-agent's last word to the agent that started it.
import { getExternalWorkflowHandle, workflowInfo } from '@temporalio/workflow';
import type { AgentResult } from '../contracts/agent';
import { agentEndedSignal } from './agent-definitions';

/** A sub-agent's parent may have continued as new: then it hears of the end by this alone. */
export async function tellParent(agentId: string, result: AgentResult): Promise<void> {
  const parent = workflowInfo().parent?.workflowId;
  if (!parent || !/^agent\/[^/]+$/.test(parent)) return;
  try {
    await getExternalWorkflowHandle(parent).signal(agentEndedSignal, { agentId, result });
  } catch {
    // It has ended.
  }
}

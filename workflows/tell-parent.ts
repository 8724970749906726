// A sub-agent's parent may have continued as new: then it hears of the end by this alone.
import { getExternalWorkflowHandle, workflowInfo } from '@temporalio/workflow';
import type { AgentResult, Usage } from '../contracts/agent';
import { agentEndedSignal } from './agent-definitions';

export async function tellParent(agentId: string, result: AgentResult, usage: Usage | null): Promise<void> {
  const parent = workflowInfo().parent?.workflowId;
  if (!parent || !/^agent\/[^/]+$/.test(parent)) return;
  try {
    await getExternalWorkflowHandle(parent).signal(agentEndedSignal, {
      agentId,
      result: { ...result, ...(usage && { usage }) },
    });
  } catch {
    // It has ended.
  }
}

// Stops sub-agents whose parent was terminated: termination runs no code of the parent, and sub-agents are not bound to
// it, because it may continue as new.
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { listWorkflows } from '../../client/delivery/list-workflows';
import { describeEnd } from '../../client/delivery/workflow-end';
import { WORKFLOWS } from '../../contracts/messages';
import { AGENT_MESSAGES } from '../../contracts/messages/to-agents';
import { wasEnded } from './ended-agents';
import { RepeatedLook } from '../repeated-look';

interface SubAgent {
  workflowId: string;
  startTime: Date;
  parent: string;
}

export class SubAgentSweep {
  /** Periodic, between `start` and `stop`. */
  readonly looks = new RepeatedLook(
    () => this.look(),
    (error) => this.log('sub-agents could not be looked up', { error }),
  );

  constructor(
    private readonly client: Client,
    private readonly log: (message: string, facts: Record<string, unknown>) => void,
  ) {}

  /** One look at all running agents; returns the workflow ids of those that it stopped. */
  async look(): Promise<string[]> {
    const { running, subAgents } = await this.list();
    const stopped: string[] = [];
    for (const { workflowId, startTime, parent } of subAgents) {
      if (running.has(parent)) continue;
      try {
        const reason = await this.reasonToStop(parent, startTime);
        if (reason === undefined) continue;
        await this.client.workflow.getHandle(workflowId).signal(AGENT_MESSAGES.stop.name, { reason });
        this.log('a sub-agent of an ended agent is stopped', { workflowId, reason });
        stopped.push(workflowId);
      } catch (error) {
        // For example, it has ended meanwhile: the others are still checked.
        this.log('a sub-agent could not be checked', { workflowId, error });
      }
    }
    return stopped;
  }

  private async reasonToStop(parent: string, startTime: Date): Promise<string | undefined> {
    try {
      const ended = await this.client.workflow.getHandle(parent).describe();
      // A reused id, or one that the list does not show yet.
      if (!wasEnded(ended) || !ended.closeTime || ended.closeTime < startTime) return undefined;
      return `its parent was ${await describeEnd(this.client, ended)}`;
    } catch (err) {
      if (err instanceof WorkflowNotFoundError) return 'its parent was deleted';
      throw err;
    }
  }

  private async list(): Promise<{ running: Set<string>; subAgents: SubAgent[] }> {
    const running = new Set<string>();
    const subAgents: SubAgent[] = [];
    const query = `WorkflowType = "${WORKFLOWS.agent}" AND ExecutionStatus = "Running"`;
    for await (const { workflowId, startTime, parentExecution } of listWorkflows(this.client, { query })) {
      running.add(workflowId);
      const parent = parentExecution?.workflowId;
      if (parent && /^agent\/[^/]+$/.test(parent)) subAgents.push({ workflowId, startTime, parent });
    }
    return { running, subAgents };
  }
}

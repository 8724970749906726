// Stops sub-agents whose parent was terminated, and notifies the parents of sub-agents that were: termination runs no code, and
// sub-agents are not bound to their parent, because it may continue as new.
import { WorkflowNotFoundError, type Client, type WorkflowExecutionInfo } from '@temporalio/client';
import { wasReset } from '../../client/agents/reset-runs';
import { describeWorkflow, listWorkflows } from '../../client/delivery/list-workflows';
import { sendQuery, sendSignal } from '../../client/delivery/send-message';
import { describeEnd } from '../../client/delivery/workflow-end';
import { agentIdOf } from '../../contracts/ids';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { WORKFLOWS } from '../../contracts/messages';
import { AGENT_MESSAGES } from '../../contracts/messages/to-agents';
import { wasEnded } from './ended-agents';
import { RepeatedLook } from '../repeated-look';

interface SubAgent {
  workflowId: string;
  startTime: Date;
  parent: string;
}

/** The list of the server may be that late, and its clock that different. */
const LATE_MS = 600_000;

export class SubAgentSweep {
  /** Ends before it are known to all parents; at the first look, those of any time are read. */
  private knownBefore = 0;
  /** Runs of sub-agents whose parents know that they have ended. */
  private readonly notified = new Set<string>();
  /** Periodic, between `start` and `stop`. */
  readonly looks = new RepeatedLook(
    () => this.look(),
    (error) => this.log('sub-agents could not be looked up', { error }),
  );

  constructor(
    private readonly client: Client,
    private readonly log: (message: string, facts: Record<string, unknown>) => void,
  ) {}

  /** One look at all agents; returns the workflow ids of those that it stopped. */
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
    await this.notifyParents(running);
    return stopped;
  }

  /** A parent that has continued as new learns of an end only by a message, which these could not send. */
  private async notifyParents(running: ReadonlySet<string>): Promise<void> {
    const began = Date.now();
    let isComplete = true;
    const since = new Date(this.knownBefore).toISOString();
    const query =
      `WorkflowType = "${WORKFLOWS.agent}" AND CloseTime > "${since}" ` +
      'AND ExecutionStatus IN ("Terminated", "TimedOut", "Failed", "Canceled")';
    for await (const ended of listWorkflows(this.client, { query })) {
      const { workflowId, runId, parentExecution } = ended;
      const parent = parentExecution?.workflowId;
      if (!parent || !running.has(parent) || this.notified.has(runId)) continue;
      try {
        await this.notifyParent(parent, ended);
        this.notified.add(runId);
      } catch (error) {
        // For example, the parent has ended meanwhile: the others are still notified.
        isComplete = false;
        this.log('an agent could not be told of the end of a sub-agent', { workflowId, error });
      }
    }
    if (isComplete) this.knownBefore = began - LATE_MS;
  }

  private async notifyParent(workflowId: string, ended: WorkflowExecutionInfo): Promise<void> {
    const parent = this.client.workflow.getHandle(workflowId);
    const agentId = agentIdOf(ended.workflowId);
    const { agents } = await sendQuery(parent, AGENT_MESSAGES.state);
    const waited = agents.find((one) => one.agentId === agentId && one.status === 'running');
    // A reused id: an earlier incarnation of the parent had started that one.
    if (!waited || !ended.closeTime || ended.closeTime < new Date(waited.since)) return;
    // Its next run reports its end itself, or is listed here.
    if (await wasReset(this.client, ended)) return;
    const how = `it was ${await describeEnd(this.client, ended)}`;
    const error = new HoldfastError('agent_ended', { agent: agentId, how }).toData();
    const result = { answer: null, reason: 'stopped' as const, error, steps: 0 };
    await sendSignal(parent, AGENT_MESSAGES.agentEnded, { agentId, result });
    this.log('an agent is told that its sub-agent has ended', { workflowId: ended.workflowId, how });
  }

  private async reasonToStop(parent: string, startTime: Date): Promise<string | undefined> {
    try {
      const ended = await describeWorkflow(this.client, parent);
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

// Closes the sessions of terminated agents: termination runs no code of the agent, so something else has to close them.
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { decodeArrayFromPayloads } from '@temporalio/common/lib/internal-non-workflow';
import { firstRunOf } from '../../client/agents/reset-runs';
import {
  describeWorkflow,
  listWorkflows,
  type DescribedWorkflow,
} from '../../client/delivery/list-workflows';
import { describeEnd } from '../../client/delivery/workflow-end';
import type { AgentInput } from '../../contracts/schemas/agent';
import { agentWorkflowId, parseSessionWorkflowId } from '../../contracts/ids';
import { openEnvelope } from '../../contracts/seals';
import { WORKFLOWS } from '../../contracts/messages';
import { SESSION_MESSAGES } from '../../contracts/messages/to-sessions';

export interface EndedAgentsOptions {
  /** Clients of the agents' namespace and of the sessions' namespace. */
  agents: Client;
  sessions: Client;
  log: (message: string, facts: object) => void;
}

export class EndedAgents {
  /** Sessions asked to close, by their agent's run: once is enough, since it is in their history. */
  private readonly closed = new Set<string>();
  /** Whether a terminated agent's run leaves its sessions open. */
  private readonly keeps = new Map<string, Promise<boolean>>();

  constructor(private readonly options: EndedAgentsOptions) {}

  /** One look at all open sessions in their namespace. Throws the first failure after it has looked at all. */
  async look(): Promise<void> {
    const { sessions } = this.options;
    const query = `WorkflowType = "${WORKFLOWS.execSession}" AND ExecutionStatus = "Running"`;
    const failures: unknown[] = [];
    for await (const { workflowId } of listWorkflows(sessions, { query }))
      await this.lookAt(workflowId).catch((err: unknown) => failures.push(err));
    if (failures.length > 0) throw failures[0];
  }

  private async lookAt(workflowId: string): Promise<void> {
    const { agents, sessions } = this.options;
    const ref = parseSessionWorkflowId(workflowId);
    const agent = ref && (await describeIfThere(agents, agentWorkflowId(ref.agent)));
    const session = wasEnded(agent) ? await describeIfThere(sessions, workflowId) : undefined;
    if (session?.status.name === 'RUNNING') await this.close(session, agent);
  }

  /**
   * Closes the sessions of a terminated agent as the agent would have done. Throws, and leaves them open, where its input
   * cannot be read here: it may have said that they are kept.
   */
  async close(session: DescribedWorkflow, agent: DescribedWorkflow | undefined): Promise<void> {
    if (!wasEnded(agent)) return;
    const { workflowId } = session;
    const key = `${agent.runId} ${workflowId}`;
    if (this.closed.has(key) || (await this.keepsSessions(agent))) return;
    // A reused id: the session was opened after that agent's end.
    if (!agent.closeTime || agent.closeTime < (await this.openedAt(session))) return;
    const reason = `its agent was ${await describeEnd(this.options.agents, agent)}`;
    await this.options.sessions.workflow
      .getHandle(workflowId)
      .signal(SESSION_MESSAGES.close.name, { reason });
    this.closed.add(key);
    this.options.log('a session of an ended agent is closed', { workflowId, reason });
  }

  /** Only its input shows that: a terminated agent may not answer queries. */
  private keepsSessions({ workflowId, runId }: DescribedWorkflow): Promise<boolean> {
    const known = this.keeps.get(runId) ?? this.readKeep(workflowId, runId);
    this.keeps.set(runId, known);
    // Not cached: the next look asks again.
    known.catch(() => this.keeps.delete(runId));
    return known;
  }

  private async readKeep(workflowId: string, runId: string): Promise<boolean> {
    const { options, workflowService } = this.options.agents;
    const { history } = await workflowService.getWorkflowExecutionHistory({
      namespace: options.namespace,
      execution: { workflowId, runId },
      maximumPageSize: 1,
    });
    const payloads = history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads;
    // With the codecs: an agent's input may be encrypted, or be of one that may come unencrypted.
    const context = { type: 'workflow' as const, namespace: options.namespace, workflowId };
    const values = await decodeArrayFromPayloads(options.loadedDataConverter, payloads, context);
    const [input] = openEnvelope(values).args;
    return (input as Partial<AgentInput> | null | undefined)?.keep === true;
  }

  /** A session that continued as new or was reset is as old as its first run. */
  private async openedAt(session: DescribedWorkflow): Promise<Date> {
    const first = firstRunOf(session);
    if (first === session.runId) return session.startTime;
    // If the server has deleted that run, it is older than anything the server knows.
    return (
      (await describeIfThere(this.options.sessions, session.workflowId, first))?.startTime ?? new Date(0)
    );
  }
}

/** Without its memo if that cannot be read here: one such agent must not end the look at all others. */
export async function describeIfThere(
  client: Client,
  workflowId: string,
  runId?: string,
): Promise<DescribedWorkflow | undefined> {
  try {
    return await describeWorkflow(client, workflowId, runId);
  } catch (err) {
    if (err instanceof WorkflowNotFoundError) return undefined;
    throw err;
  }
}

/** Ended without running its code. */
export const wasEnded = (agent: DescribedWorkflow | undefined): agent is DescribedWorkflow =>
  agent?.status.name === 'TERMINATED' || agent?.status.name === 'TIMED_OUT';

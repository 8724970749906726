// Ends shells that would never be closed: their workflow was terminated, or closed while this host was away.
// Termination runs no code of the workflow, so the host has to look for itself.
import type { Client } from '@temporalio/client';
import { listWorkflows, type DescribedWorkflow } from '../../client/delivery/list-workflows';
import { describeEnd, isOver } from '../../client/delivery/workflow-end';
import { reasonOf } from '../../contracts/errors/holdfast-error';
import { agentWorkflowId, sessionWorkflowId, type SessionRef } from '../../contracts/ids';
import { SEARCH_ATTRIBUTES, WORKFLOWS } from '../../contracts/messages';
import type { Terminals } from '../../exec/terminals';
import { describeIfThere, EndedAgents, wasEnded } from '../agents/ended-agents';
import { RepeatedLook } from '../repeated-look';

const isGone = (workflow: DescribedWorkflow | undefined): boolean => !workflow || isOver(workflow);

export interface OrphanSweepOptions {
  client: Client;
  sessions: Terminals;
  host: string;
  log: (message: string, facts: object) => void;
}

/**
 * Which server and namespace a worker serves: sessions of others are left alone. Asked anew for each decision: a server may
 * be replaced by another at the same address, for example by an empty one until its database is restored.
 */
export async function sessionOwner(client: Client): Promise<string | undefined> {
  try {
    const { clusterId } = await client.workflowService.getClusterInfo({});
    return clusterId ? `${clusterId}/${client.options.namespace}` : undefined;
  } catch {
    // Without a server identity nothing is swept.
    return undefined;
  }
}

export class OrphanSweep {
  /** Periodic, between `start` and `stop`. */
  readonly looks = new RepeatedLook(
    () => this.look(),
    (error) => this.options.log('orphans could not be looked up', { error }),
  );
  /** Had no workflow at the last look; ended if still without one at the next. */
  private suspects = new Set<string>();
  private readonly endedAgents: EndedAgents;

  constructor(private readonly options: OrphanSweepOptions) {
    const { client, log } = options;
    this.endedAgents = new EndedAgents({ agents: client, sessions: client, log });
  }

  /**
   * One look at all open sessions of this host and server; returns those that it ended. Throws the first failure after it has
   * looked at all.
   */
  async look(): Promise<SessionRef[]> {
    const mine = await this.openHere();
    const before = this.suspects;
    this.suspects = new Set();
    const agents = new Map<string, Promise<DescribedWorkflow | undefined>>();
    const listed = mine.length > 0 ? await this.listOpen() : new Set<string>();
    const ended: SessionRef[] = [];
    const lookAt = async (ref: SessionRef): Promise<void> => {
      const workflowId = sessionWorkflowId(ref);
      const agent = agents.get(ref.agent) ?? this.describe(agentWorkflowId(ref.agent));
      agents.set(ref.agent, agent);
      // It may fail before it is awaited.
      agent.catch(() => undefined);
      // A session listed as open needs a closer look only if its agent was ended.
      if (listed.has(workflowId) && !wasEnded(await agent)) return;
      const session = await this.describe(workflowId);
      if (session && !isOver(session)) {
        await this.endedAgents.close(session, await agent);
      } else if (before.has(workflowId)) {
        if (await this.end(ref, session)) ended.push(ref);
      } else {
        this.suspects.add(workflowId);
      }
    };
    const failures: unknown[] = [];
    for (const ref of mine) await lookAt(ref).catch((err: unknown) => failures.push(err));
    if (failures.length > 0) throw failures[0];
    return ended;
  }

  /** Open sessions of this host whose workflows this server runs. */
  private async openHere(): Promise<SessionRef[]> {
    const { client, sessions, host } = this.options;
    const open = sessions.list().filter((ref) => ref.host === host && sessions.isOpen(ref));
    const owner = open.length > 0 ? await sessionOwner(client) : undefined;
    return open.filter((ref) => owner !== undefined && sessions.ownerOf(ref) === owner);
  }

  /**
   * Sessions that the server lists as open, to save a request for each. The list lags, so sessions that it lacks are looked up
   * individually.
   */
  private async listOpen(): Promise<Set<string>> {
    const { client, host } = this.options;
    const query =
      `WorkflowType = "${WORKFLOWS.execSession}" AND ExecutionStatus = "Running" ` +
      `AND ${SEARCH_ATTRIBUTES.host} = "${host}"`;
    const open = new Set<string>();
    try {
      for await (const { workflowId } of listWorkflows(client, { query })) open.add(workflowId);
    } catch (err) {
      this.options.log('open sessions could not be listed', { error: reasonOf(err) });
    }
    return open;
  }

  /** False if a new run has been opened since the look, or another server answers by now. */
  private async end(ref: SessionRef, session: DescribedWorkflow | undefined): Promise<boolean> {
    const { client, sessions } = this.options;
    const reason = session
      ? `its workflow was ${await describeEnd(client, session)}`
      : 'its workflow is gone';
    if (!isGone(await this.describe(sessionWorkflowId(ref)))) return false;
    if ((await sessionOwner(client)) !== sessions.ownerOf(ref)) return false;
    await sessions.close(ref, reason);
    this.options.log('a session without a workflow was ended', { ...ref, reason });
    return true;
  }

  private describe(workflowId: string): Promise<DescribedWorkflow | undefined> {
    return describeIfThere(this.options.client, workflowId);
  }
}

// The folder of an agent that works in one of its own: made before its first turn, and left at its end.
import { CancellationScope, log, workflowInfo, type ActivityInterfaceFor } from '@temporalio/workflow';
import type { AgentInput, AgentSettings } from '../../contracts/schemas/agent';
import type { AgentResult } from '../../contracts/agents/agent';
import { reasonOf } from '../../contracts/errors/holdfast-error';
import { hostNameOf } from '../../contracts/ids';
import { label } from '../../contracts/text/labels';
import type { WorkspaceActivities } from '../../contracts/workspaces/requests-to-hosts';
import { DELIVERY_MS, hostFailure } from '../host/host-activities';
import { workspacesOn } from '../turn/calls/tool-activities';

/** A machine restarts in this time. */
const RESTART_MS = 300_000;

export class AgentOwnWorkspace {
  constructor(
    private readonly agent: string,
    private readonly input: AgentInput,
    private readonly settings: AgentSettings,
  ) {}

  /** All that works for the agent then works there. Throws what the host says, also `host_offline`. */
  async make(): Promise<void> {
    const { workspace } = this.input;
    if (!workspace || workspace.base !== undefined) return;
    const summary = label('make a workspace of its own');
    const { of, hash = null, for: heir = null } = workspace;
    const { firstExecutionRunId: born } = workflowInfo();
    // Its parent, or the agent that it continues.
    const owner = heir ?? this.input.from?.agent ?? this.agent;
    const wanted = { agent: this.agent, born, of, owner, hash, for: heir };
    try {
      const { folder, base } = await this.hostWithin(DELIVERY_MS).makeWorkspace.executeWithOptions(
        { summary },
        [wanted],
      );
      Object.assign(this.input, { cwd: folder, workspace: { ...workspace, base } });
      Object.assign(this.settings, { cwd: folder });
    } catch (err) {
      throw hostFailure(err, hostNameOf(this.input));
    }
  }

  /** The result with what it changed there. The end of an agent does not fail for it. */
  async leave(result: AgentResult): Promise<AgentResult> {
    const { workspace } = this.input;
    if (workspace?.base === undefined) return result;
    const { firstExecutionRunId: born } = workflowInfo();
    const left = { agent: this.agent, born, base: workspace.base, for: workspace.for ?? null };
    const summary = label('leave its workspace');
    try {
      // A parent cannot do without: a machine that restarts is waited for.
      const leave = this.hostWithin(workspace.for === undefined ? DELIVERY_MS : RESTART_MS).leaveWorkspace;
      return await CancellationScope.nonCancellable(async () => ({
        ...result,
        workspace: await leave.executeWithOptions({ summary }, [left]),
      }));
    } catch (err) {
      log.warn('the workspace of an agent could not be left', { reason: reasonOf(err) });
      return result;
    }
  }

  /** @param startMs after which the host is offline */
  private hostWithin(startMs: number): ActivityInterfaceFor<WorkspaceActivities> {
    return workspacesOn(hostNameOf(this.input), {
      scheduleToStartTimeout: startMs,
      startToCloseTimeout: '30 minutes',
      retry: { initialInterval: '200ms', maximumInterval: '5s', maximumAttempts: 5 },
    });
  }
}

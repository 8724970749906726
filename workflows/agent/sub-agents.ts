// An agent's sub-agents: starts them as children, records how they ended, notifies the callers that wait for that, and
// ends them with their parent. They are abandoned children, since Temporal would otherwise end them when their parent
// continues as new: so a signal reports their end, and a signal stops them.
import {
  CancellationScope,
  condition,
  getExternalWorkflowHandle,
  isCancellation,
  ParentClosePolicy,
  startChild,
  workflowInfo,
} from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { AgentInput } from '../../contracts/schemas/agent';
import {
  DEFAULT_LIMITS,
  type AgentResult,
  type SubAgent,
  type TurnLimits,
  type Usage,
} from '../../contracts/agents/agent';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import { fromFailure } from '../../contracts/errors/failure';
import { agentWorkflowId } from '../../contracts/ids';
import { asSummary } from '../../contracts/text/labels';
import { messageMemo, WORKFLOWS, WORKFLOW_TASK_TIMEOUT } from '../../contracts/messages';
import { contentHash, spawnContent } from '../../contracts/message-content';
import { fitText } from '../../contracts/payload-size';
import { findSubAgent, subAgentId, type SubAgentRecord } from '../../contracts/agents/sub-agents';
import type { SpawnAgentsSignal } from '../../contracts/schemas/agent-signals';
import type { AgentsWaitRequest, SpawnRequest } from '../../contracts/schemas/agent';
import type {
  AgentsWaitResult,
  AwaitAgentsSignal,
  SpawnedAgent,
  SubAgentOutcome,
} from '../../contracts/agents/sub-agents';
import { addUsage } from '../../contracts/models/usage';
import { attributesOfNewAgent } from '../../contracts/agents/work-state';
import { AGENT_MESSAGES, TURN_MESSAGES } from '../../contracts/messages/to-agents';
import { signalOf } from '../messages/definitions';
import { checkedRequest, refuse } from '../messages/refusal';

/** For a wait without a timeout. */
export const DEFAULT_WAIT_MS = 3_600_000;
/** An agent ends after its sub-agents, but does not wait forever for one that cannot be reached. */
const STOP_MS = 30_000;
/** Limit for the answers of one wait together. */
const MAX_ANSWER_BYTES = 200_000;
/** Limit for the answers carried over when the parent continues as new. */
const MAX_RECORD_BYTES = 300_000;

type Ended = Extract<SubAgentOutcome, { status: 'ended' }>;
type CountUsage = (agent: SubAgentRecord) => boolean;

export class SubAgents {
  private readonly agents: SubAgentRecord[];
  /** Sub-agents being started, by key. */
  private readonly starting = new Map<string, Promise<string>>();
  private isClosed = false;

  constructor(
    private readonly parent: string,
    private readonly input: AgentInput,
    carried: readonly SubAgentRecord[],
    /** Whether sub-agents may be started with the search attributes that say what they are doing. */
    private readonly publishes: () => boolean,
  ) {
    this.agents = [...carried];
  }

  get isEmpty(): boolean {
    return this.agents.length === 0;
  }

  /** What the next run needs; answers that are too large are cut. */
  get record(): SubAgentRecord[] {
    const room = MAX_RECORD_BYTES / Math.max(1, this.agents.length);
    return this.agents.map((agent) => ({
      ...agent,
      result: agent.result && {
        ...agent.result,
        answer: agent.result.answer && fitText(agent.result.answer, room),
      },
    }));
  }

  views(): SubAgent[] {
    return this.agents.map(({ agentId, role, status, since, isTold, workspace, result }) => ({
      ...{ agentId, role, status, since },
      isCounted: isTold,
      ...(workspace && { workspace }),
      // Callers that wait get the full answers; the state must stay small.
      result: result && { ...result, answer: result.answer && fitText(result.answer, 500) },
    }));
  }

  /** Throws `id_conflict`, `agents_depth`, `agents_limit` or `tool_not_allowed`; then nothing is started. */
  check(request: SpawnRequest): void {
    const { key, limits = {}, tools } = request;
    const known = this.agents.find((one) => one.key === key);
    const isOther = known !== undefined && known.hash !== contentHash(key, spawnContent(request));
    if (isOther) refuse('id_conflict', { got: key });
    if (known) return;
    if (this.limit('depth') <= 0) refuse('agents_depth', {});
    const got = this.granted + 1 + this.grantFor(limits);
    if (got > this.limit('agents')) refuse('agents_limit', { got, allowed: this.limit('agents') });
    const allowed = this.input.tools;
    const foreign = allowed && tools?.find((name) => !allowed.includes(name));
    if (allowed && foreign !== undefined)
      refuse('tool_not_allowed', { got: foreign, allowed: allowed.join(', ') || 'none' });
  }

  /** Starts a sub-agent, or finds the one that this key started. */
  async spawn(request: SpawnRequest): Promise<string> {
    this.check(request);
    const known = this.agents.find(({ key }) => key === request.key);
    if (known) return this.starting.get(request.key) ?? known.agentId;
    const { key, role } = request;
    const grant = this.grantFor(request.limits ?? {});
    const since = new Date().toISOString();
    const agent: SubAgentRecord = {
      agentId: '',
      role,
      key,
      hash: contentHash(key, spawnContent(request)),
      grant,
      ...(request.workspace === 'own' && { workspace: 'own' }),
      status: 'running',
      since,
      result: null,
      isTold: false,
    };
    // Before it runs: another one started in the meantime must count it.
    this.agents.push(agent);
    const started = this.start(agent, request);
    this.starting.set(key, started);
    try {
      return await started;
    } catch (err) {
      this.agents.splice(this.agents.indexOf(agent), 1);
      throw err;
    } finally {
      this.starting.delete(key);
    }
  }

  /** Starts what a turn asks for, each on its own; the turn gets the ids by signal. `isOpen` throws if none may start. */
  async spawnForTurn({ turn, agents }: SpawnAgentsSignal, isOpen: () => void): Promise<void> {
    const spawned = await Promise.all(
      agents.map(async (asked): Promise<SpawnedAgent> => {
        const { key } = asked;
        try {
          isOpen();
          return { key, agentId: await this.spawn(checkedRequest(AGENT_MESSAGES.spawn, asked)) };
        } catch (err) {
          const known = isCancellation(err)
            ? new HoldfastError('agent_closed', { reason: 'it was cancelled' })
            : fromFailure(err);
          if (!known) throw err;
          return { key, fault: { code: known.code, message: known.message } };
        }
      }),
    );
    try {
      await getExternalWorkflowHandle(turn).signal(signalOf(TURN_MESSAGES.agentsSpawned), {
        agents: spawned,
      });
    } catch {
      // The turn is over: there is no caller any longer.
    }
  }

  ended(agentId: string, result: AgentResult): void {
    const agent = this.agents.find((one) => one.agentId === agentId);
    if (!agent || agent.status === 'ended') return;
    agent.status = 'ended';
    agent.since = new Date().toISOString();
    agent.result = { ...result, answer: result.answer && fitText(result.answer, MAX_ANSWER_BYTES) };
  }

  /**
   * Throws `not_found` for any other agent.
   * @param count marks one whose usage counts towards the turn that waits; false if that is over
   */
  async wait(
    { agentIds, mode = 'all', timeoutMs = DEFAULT_WAIT_MS }: AgentsWaitRequest,
    count?: CountUsage,
  ): Promise<AgentsWaitResult> {
    const waited = agentIds.map((id) => findSubAgent(this.agents, id));
    const hasEnded = ({ status }: SubAgentRecord): boolean => status === 'ended';
    const isOver = (): boolean =>
      this.isClosed || (mode === 'all' ? waited.every(hasEnded) : waited.some(hasEnded));
    // An agent that is cancelled stops its sub-agents, which ends all waits for them.
    const isEnded = isOver() || (await CancellationScope.nonCancellable(() => condition(isOver, timeoutMs)));
    return this.outcome(waited, !isEnded, count);
  }

  /** Waits on behalf of a turn, which gets the outcome by signal. */
  async answerTurn(
    { key, turn, ...request }: AwaitAgentsSignal,
    currentTurn: () => string | null,
  ): Promise<void> {
    const caller = getExternalWorkflowHandle(turn);
    const counted: SubAgentRecord[] = [];
    const count = (agent: SubAgentRecord): boolean => {
      // The wait of an interrupted turn goes on, and must not take it from the turn that waits again.
      if (currentTurn() !== turn) return false;
      agent.isTold = true;
      counted.push(agent);
      return true;
    };
    try {
      const result = await this.wait(request, count);
      await caller.signal(signalOf(TURN_MESSAGES.agentsEnded), { key, result });
    } catch (err) {
      for (const agent of counted) agent.isTold = false;
      const known = err instanceof HoldfastError ? err : fromFailure(err);
      // The turn is over: there is no caller any longer.
      if (!known) return;
      const { code, message } = known;
      await caller
        .signal(signalOf(TURN_MESSAGES.agentsEnded), { key, fault: { code, message } })
        .catch(() => undefined);
    }
  }

  /** Stops all running sub-agents, and waits until they have ended. */
  async stopAll(reason: string): Promise<void> {
    // A sub-agent that is still being started accepts no signal yet, and would outlive its parent.
    await Promise.allSettled(this.starting.values());
    const running = this.agents.filter(({ status }) => status === 'running');
    await Promise.all(
      running.map(async (agent) => {
        try {
          await getExternalWorkflowHandle(agentWorkflowId(agent.agentId)).signal(
            signalOf(AGENT_MESSAGES.stop),
            { reason },
          );
        } catch {
          // It no longer exists.
          agent.status = 'ended';
        }
      }),
    );
    if (running.length > 0) await condition(() => running.every(({ status }) => status === 'ended'), STOP_MS);
    this.isClosed = true;
  }

  /** Assigns the id before it runs: it may end at the moment when its parent learns of its start. */
  private async start(agent: SubAgentRecord, request: SpawnRequest): Promise<string> {
    const { role, prompt } = request;
    for (let n = this.agents.length; ; n++) {
      const agentId = subAgentId(this.parent, role, n);
      Object.assign(agent, { agentId, status: 'running', result: null });
      try {
        const child = await startChild(WORKFLOWS.agent, {
          workflowId: agentWorkflowId(agentId),
          taskQueue: workflowInfo().taskQueue,
          workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
          parentClosePolicy: ParentClosePolicy.ABANDON,
          args: [this.inputOf(request, agent.grant)],
          staticSummary: asSummary(`${role}: ${prompt}`),
          memo: messageMemo(prompt),
          ...(this.publishes() && { typedSearchAttributes: attributesOfNewAgent(agentId, true) }),
        });
        // It reports its end itself, unless it was terminated.
        child.result().catch((err: unknown) => this.ended(agentId, lostResult(agentId, err)));
        return agentId;
      } catch (err) {
        // Left over from an earlier incarnation of the parent, and still running.
        if (!(err instanceof WorkflowExecutionAlreadyStartedError)) throw err;
      }
    }
  }

  private inputOf(
    { prompt, instructions, model, tools, limits = {}, workspace }: SpawnRequest,
    agents: number,
  ): AgentInput {
    const { host, remoteHost, cwd, context, yield: yielding, dialect, tenant } = this.input;
    const own = { ...this.input.limits, depth: this.limit('depth') - 1, agents };
    const asked = Object.entries(limits).flatMap(([name, value]) =>
      name === 'agents' || name === 'depth'
        ? []
        : [[name, Math.min(value, this.limit(name as keyof TurnLimits))]],
    );
    const depth = Math.min(own.depth, limits.depth ?? own.depth);
    const offered = tools ?? this.input.tools;
    return {
      task: prompt,
      mode: 'task',
      model: model ?? this.input.model,
      limits: { ...own, ...(Object.fromEntries(asked) as Partial<TurnLimits>), depth },
      ...(dialect && (model === undefined || model === this.input.model) && { dialect }),
      ...(instructions && { instructions }),
      ...(offered && { tools: offered }),
      ...(host && { host }),
      ...(remoteHost && { remoteHost }),
      ...(tenant !== undefined && { tenant }),
      ...(workspace === 'own' ? { workspace: { of: cwd ?? null, for: this.parent } } : cwd && { cwd }),
      ...(context && { context }),
      ...(yielding && { yield: yielding }),
    };
  }

  private outcome(
    waited: readonly SubAgentRecord[],
    timedOut: boolean,
    count?: CountUsage,
  ): AgentsWaitResult {
    const results: Record<string, SubAgentOutcome> = {};
    let usage: Usage | null = null;
    for (const agent of waited) {
      const { agentId, role, result } = agent;
      if (!result) {
        results[agentId] = { role, status: 'running' };
        continue;
      }
      const { answer, reason, error, steps } = result;
      const shown = answer && fitText(answer, MAX_ANSWER_BYTES / waited.length);
      results[agentId] = { role, status: 'ended', answer: shown, reason, error, steps, ...leftBy(agent) };
      if (agent.isTold || count?.(agent) === false) continue;
      usage = addUsage(usage, result.usage);
    }
    return { results, timedOut, ...(usage && { usage }) };
  }

  private limit(name: keyof TurnLimits): number {
    return this.input.limits?.[name] ?? DEFAULT_LIMITS[name];
  }

  /** Existing sub-agents, plus those that they may start. */
  private get granted(): number {
    return this.agents.reduce((sum, { grant }) => sum + 1 + grant, 0);
  }

  /** How many agents a new one may start: as many as requested, or half of the rest. */
  private grantFor({ agents, depth }: Partial<TurnLimits>): number {
    if (agents !== undefined) return agents;
    if (this.limit('depth') <= 1 || depth === 0) return 0;
    return Math.max(0, Math.floor((this.limit('agents') - this.granted - 1) / 2));
  }
}

/** What a sub-agent leaves in a workspace of its own. */
function leftBy({ workspace, result }: SubAgentRecord): Pick<Ended, 'changes' | 'workspace' | 'folder'> {
  if (!result?.workspace) return workspace === 'own' ? { workspace: 'not_left' } : {};
  const { counts, folder } = result.workspace;
  return { changes: counts, ...(folder !== undefined && { folder }) };
}

const lostResult = (agent: string, err: unknown): AgentResult => {
  const error =
    fromFailure(err) ??
    new HoldfastError('agent_ended', { agent, how: reasonOf((err as Error).cause ?? err) });
  return { answer: null, reason: 'stopped', error: error.toData(), steps: 0 };
};

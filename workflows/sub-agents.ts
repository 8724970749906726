// The agents below an agent: starts them as children, knows how they ended, tells who waits for that, and ends them
// with their parent. They are let go of when their parent continues as new, or Temporal would end them in that
// moment: so their end is told by a signal, and they are stopped by one.
import {
  condition,
  getExternalWorkflowHandle,
  ParentClosePolicy,
  startChild,
  workflowInfo,
} from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  DEFAULT_LIMITS,
  type AgentInput,
  type AgentResult,
  type SubAgent,
  type TurnLimits,
  type Usage,
} from '../contracts/agent';
import { HoldfastError, reasonOf } from '../contracts/errors';
import { fromFailure } from '../contracts/failure';
import { agentWorkflowId } from '../contracts/ids';
import { asSummary } from '../contracts/labels';
import { WORKFLOWS, WORKFLOW_TASK_TIMEOUT } from '../contracts/messages';
import { contentHash, spawnContent } from '../contracts/message-content';
import { fitText } from '../contracts/payload-size';
import { findSubAgent, subAgentId, type SubAgentRecord } from '../contracts/sub-agents';
import type {
  AgentsWaitRequest,
  AgentsWaitResult,
  AwaitAgentsSignal,
  SpawnRequest,
  SubAgentOutcome,
} from '../contracts/sub-agents';
import { addUsage } from '../contracts/usage';
import { agentsEndedSignal, stopSignal } from './agent-definitions';
import { refuse } from './refusal';
import { conflict, type AskedBy } from './id-conflict';

/** A wait that names no time. */
export const DEFAULT_WAIT_MS = 3_600_000;
/** An agent ends when those below it have; not for ever where one cannot be reached. */
const STOP_MS = 30_000;
/** Answers of all that were waited for, together. */
const MAX_ANSWER_BYTES = 200_000;
/** Answers that are taken along when the parent continues as new. */
const MAX_RECORD_BYTES = 300_000;

export class SubAgents {
  private readonly agents: SubAgentRecord[];
  /** By key: those that are being started. */
  private readonly starting = new Map<string, Promise<string>>();
  private isClosed = false;

  constructor(
    private readonly parent: string,
    private readonly input: AgentInput,
    carried: readonly SubAgentRecord[],
  ) {
    this.agents = [...carried];
  }

  get isEmpty(): boolean {
    return this.agents.length === 0;
  }

  /** What the next run has to know; answers that are too large for it are cut. */
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
    return this.agents.map(({ agentId, role, status, since, result }) => ({
      agentId,
      role,
      status,
      since,
      // The answers are told to whoever waits: a state is to stay small.
      result: result && { ...result, answer: result.answer && fitText(result.answer, 500) },
    }));
  }

  /** Throws `id_conflict`, `agents_depth`, `agents_limit`, `tool_not_allowed` and starts nothing then. */
  check(request: SpawnRequest, by: AskedBy = 'validator'): void {
    const { key, limits = {}, tools } = request;
    const known = this.agents.find((one) => one.key === key);
    const isOther = known?.hash !== undefined && known.hash !== contentHash(key, spawnContent(request));
    if (isOther) conflict(key, by);
    if (known) return;
    if (this.limit('depth') <= 0) refuse('agents_depth', {});
    const got = this.granted + 1 + this.grantFor(limits);
    if (got > this.limit('agents')) refuse('agents_limit', { got, allowed: this.limit('agents') });
    const allowed = this.input.tools;
    const foreign = allowed && tools?.find((name) => !allowed.includes(name));
    if (allowed && foreign !== undefined)
      refuse('tool_not_allowed', { got: foreign, allowed: allowed.join(', ') || 'none' });
  }

  /** Starts one, or finds the one that this key has started. */
  async spawn(request: SpawnRequest): Promise<string> {
    this.check(request, 'handler');
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
      status: 'running',
      since,
      result: null,
      isTold: false,
    };
    // Before it runs: another that is started meanwhile must count it.
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

  ended(agentId: string, result: AgentResult): void {
    const agent = this.agents.find((one) => one.agentId === agentId);
    if (!agent || agent.status === 'ended') return;
    agent.status = 'ended';
    agent.since = new Date().toISOString();
    agent.result = { ...result, answer: result.answer && fitText(result.answer, MAX_ANSWER_BYTES) };
  }

  /** Throws `not_found` for an agent that is none of these. */
  async wait({
    agentIds,
    mode = 'all',
    timeoutMs = DEFAULT_WAIT_MS,
  }: AgentsWaitRequest): Promise<AgentsWaitResult> {
    const waited = agentIds.map((id) => findSubAgent(this.agents, id));
    const hasEnded = ({ status }: SubAgentRecord): boolean => status === 'ended';
    const isOver = (): boolean =>
      this.isClosed || (mode === 'all' ? waited.every(hasEnded) : waited.some(hasEnded));
    const isEnded = isOver() || (await condition(isOver, timeoutMs));
    return this.outcome(waited, !isEnded);
  }

  /** Waits for a turn, which is told the outcome by a signal. */
  async answerTurn({ key, turn, ...request }: AwaitAgentsSignal): Promise<void> {
    const told = getExternalWorkflowHandle(turn);
    try {
      await told.signal(agentsEndedSignal, { key, result: await this.wait(request) });
    } catch (err) {
      const known = err instanceof HoldfastError ? err : fromFailure(err);
      // The turn is over: nobody waits any more.
      if (!known) return;
      const { code, message } = known;
      await told.signal(agentsEndedSignal, { key, fault: { code, message } }).catch(() => undefined);
    }
  }

  /** Ends all that run, and waits until they have. */
  async stopAll(reason: string): Promise<void> {
    // One that is being started takes no signal yet, and would outlive its parent.
    await Promise.allSettled(this.starting.values());
    const running = this.agents.filter(({ status }) => status === 'running');
    await Promise.all(
      running.map(async (agent) => {
        try {
          await getExternalWorkflowHandle(agentWorkflowId(agent.agentId)).signal(stopSignal, { reason });
        } catch {
          // It is not there any more.
          agent.status = 'ended';
        }
      }),
    );
    if (running.length > 0) await condition(() => running.every(({ status }) => status === 'ended'), STOP_MS);
    this.isClosed = true;
  }

  /** Gives it its id before it runs: it may end in the moment in which its parent hears of its start. */
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
        });
        // It says so itself, but for one that was terminated.
        child.result().catch((err: unknown) => this.ended(agentId, lostResult(agentId, err)));
        return agentId;
      } catch (err) {
        // Of an earlier life of the parent, and still at work.
        if (!(err instanceof WorkflowExecutionAlreadyStartedError)) throw err;
      }
    }
  }

  private inputOf(
    { prompt, instructions, model, tools, limits = {} }: SpawnRequest,
    agents: number,
  ): AgentInput {
    const { host, remoteHost, cwd, context, yield: yielding, dialect } = this.input;
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
      ...(cwd && { cwd }),
      ...(context && { context }),
      ...(yielding && { yield: yielding }),
    };
  }

  private outcome(waited: readonly SubAgentRecord[], timedOut: boolean): AgentsWaitResult {
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
      results[agentId] = { role, status: 'ended', answer: shown, reason, error, steps };
      if (!agent.isTold) usage = addUsage(usage, result.usage);
      agent.isTold = true;
    }
    return { results, timedOut, ...(usage && { usage }) };
  }

  private limit(name: keyof TurnLimits): number {
    return this.input.limits?.[name] ?? DEFAULT_LIMITS[name];
  }

  /** Sub-agents that there are, and that these may start. */
  private get granted(): number {
    return this.agents.reduce((sum, { grant }) => sum + 1 + grant, 0);
  }

  /** How many agents a new one may start: as many as it asks for, or half of what is left. */
  private grantFor({ agents, depth }: Partial<TurnLimits>): number {
    if (agents !== undefined) return agents;
    if (this.limit('depth') <= 1 || depth === 0) return 0;
    return Math.max(0, Math.floor((this.limit('agents') - this.granted - 1) / 2));
  }
}

const lostResult = (agent: string, err: unknown): AgentResult => {
  const { code, message, facts } =
    fromFailure(err) ??
    new HoldfastError('agent_ended', { agent, how: reasonOf((err as Error).cause ?? err) });
  return { answer: null, reason: 'stopped', error: { code, message, facts }, steps: 0 };
};

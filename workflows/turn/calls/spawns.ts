// A model's `spawn_agent`, run by its turn: those of one reply go to the agent in one signal, which answers with one.
// An activity and an update for each of them would cost both workflows several tasks more.
import { condition, getExternalWorkflowHandle, workflowInfo } from '@temporalio/workflow';
import type { ToolCall, ToolResult } from '../../../contracts/agents/agent';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import { failedCall } from '../../../contracts/tools/failed-call';
import { fromFailure } from '../../../contracts/errors/failure';
import { agentWorkflowId } from '../../../contracts/ids';
import type { SpawnPlan, SpawnRequest } from '../../../contracts/schemas/agent';
import { withinBudget, type BudgetLeft, type SpawnedAgent } from '../../../contracts/agents/sub-agents';
import { AGENT_MESSAGES } from '../../../contracts/messages/to-agents';
import { agentsSpawnedSchema } from '../../../contracts/schemas/agent-signals';
import { signalOf } from '../../messages/definitions';

export interface Spawning {
  agent: string;
  call: ToolCall;
  key: string;
  plan: SpawnPlan;
  budgetLeft: BudgetLeft | undefined;
  /** Another call refers to the id. */
  isReferredTo: boolean;
}

export class Spawns {
  /** The plans of the current reply, by call id. */
  plans: Readonly<Record<string, SpawnPlan>> = {};
  private readonly answers = new Map<string, SpawnedAgent>();
  private asked: SpawnRequest[] = [];
  /** Sends what was asked, once all calls that start together have. */
  private sending: Promise<void> | null = null;

  /** Ignores anything that is not an answer: anyone may send a signal. */
  answer(signal: unknown): void {
    const { success, data } = agentsSpawnedSchema.safeParse(signal);
    if (!success) return;
    for (const one of data.agents) this.answers.set(one.key, one);
  }

  async run({ agent, call, key, plan, budgetLeft, isReferredTo }: Spawning): Promise<ToolResult> {
    const { callId, tool } = call;
    const { limits = {}, ...rest } = plan;
    this.asked.push({ key, ...rest, limits: withinBudget(limits, budgetLeft) });
    try {
      await (this.sending ??= this.send(agent));
      await condition(() => this.answers.has(key));
      const { agentId, fault } = this.answers.get(key) ?? {};
      if (agentId === undefined) return failedCall(call, fault ?? unanswered());
      return { callId, tool, content: agentId, isError: false, ...(isReferredTo && { value: agentId }) };
    } catch (err) {
      const known = fromFailure(err);
      if (!known) throw err;
      return failedCall(call, known);
    }
  }

  private async send(agent: string): Promise<void> {
    // The other calls of the reply are started in the same turn of the event loop.
    await Promise.resolve();
    const agents = this.asked;
    this.asked = [];
    this.sending = null;
    const turn = workflowInfo().workflowId;
    await getExternalWorkflowHandle(agentWorkflowId(agent)).signal(signalOf(AGENT_MESSAGES.spawnAgents), {
      turn,
      agents,
    });
  }
}

const unanswered = (): HoldfastError =>
  new HoldfastError('internal', { reason: 'the agent did not say what it started' });

// A model's `wait_for_agents`, run by its turn: waiting costs neither steps nor a worker slot, however long it takes.
import { condition, getExternalWorkflowHandle, workflowInfo } from '@temporalio/workflow';
import type { ToolCall, ToolResult, Usage } from '../../../contracts/agents/agent';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import { failedCall } from '../../../contracts/tools/failed-call';
import { fromFailure } from '../../../contracts/errors/failure';
import { agentWorkflowId } from '../../../contracts/ids';
import { agentsWaitCallSchema } from '../../../contracts/schemas/agent';
import { agentsEndedSchema } from '../../../contracts/schemas/agent-signals';
import type { JsonValue } from '../../../contracts/tools/tools';
import { agentsText, type AgentsEndedSignal } from '../../../contracts/agents/sub-agents';
import { AGENT_MESSAGES } from '../../../contracts/messages/to-agents';
import { signalOf } from '../../messages/definitions';
import { checked } from '../../messages/refusal';

export class AgentsWait {
  /** By key; undefined: the agent was asked, and has not answered. */
  private readonly answers = new Map<string, AgentsEndedSignal | undefined>();
  private isGivenUp = false;

  /** @param spend gets what sub-agents have used that count towards this turn, also if their wait was given up */
  constructor(private readonly spend: (usage: Usage | undefined) => void) {}

  /** Ignores anything that is not an answer, and a second one: anyone may send a signal. */
  answer(signal: unknown): void {
    const { success, data } = agentsEndedSchema.safeParse(signal);
    if (!success || !this.answers.has(data.key) || this.answers.get(data.key)) return;
    const answer = data as AgentsEndedSignal;
    this.answers.set(answer.key, answer);
    this.spend(answer.result?.usage);
  }

  /** All current and later waits report their agents as still running. */
  giveUp(): void {
    this.isGivenUp = true;
  }

  async run(agent: string, call: ToolCall, key: string): Promise<ToolResult> {
    const { callId, tool } = call;
    try {
      const {
        agent_ids: agentIds,
        mode,
        timeout_ms: timeoutMs,
      } = checked(agentsWaitCallSchema, `The call to ${tool}`, call.args);
      const turn = workflowInfo().workflowId;
      this.answers.set(key, undefined);
      await getExternalWorkflowHandle(agentWorkflowId(agent)).signal(signalOf(AGENT_MESSAGES.awaitAgents), {
        key,
        turn,
        agentIds,
        mode,
        timeoutMs,
      });
      await condition(() => this.isGivenUp || this.answers.get(key) !== undefined);
      const { result, fault } = this.answers.get(key) ?? {};
      if (fault) return failedCall(call, fault);
      if (!result) return { callId, tool, content: GIVEN_UP, isError: true };
      const { results, timedOut } = result;
      const value = { results, timedOut };
      return { callId, tool, content: agentsText(value), isError: false, value: asJson(value) };
    } catch (err) {
      const known = err instanceof HoldfastError ? err : fromFailure(err);
      if (!known) throw err;
      return failedCall(call, known);
    }
  }
}

const GIVEN_UP =
  'The wait ended early because of another message. The sub-agents are still running: wait for them again.';

/** Interfaces have no index signature; this one is plain JSON. */
const asJson = (value: object): JsonValue => value as JsonValue;

// A model's `wait_for_agents`, run by its turn: waiting costs neither steps nor a worker slot, however long it takes.
import { condition, getExternalWorkflowHandle, workflowInfo } from '@temporalio/workflow';
import type { ToolCall, ToolResult, Usage } from '../../../contracts/agents/agent';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import { failedCall } from '../../../contracts/tools/failed-call';
import { fromFailure } from '../../../contracts/errors/failure';
import { agentWorkflowId } from '../../../contracts/ids';
import { agentsEndedSchema, agentsWaitCallSchema } from '../../../contracts/schemas/agent';
import type { JsonValue } from '../../../contracts/tools/tools';
import { agentsText, type AgentsEndedSignal } from '../../../contracts/agents/sub-agents';
import { AGENT_MESSAGES } from '../../../contracts/messages/to-agents';
import { signalOf } from '../../messages/definitions';
import { checked } from '../../messages/refusal';

interface Waited {
  result: ToolResult;
  usage?: Usage | undefined;
}

export class AgentsWait {
  private readonly answers = new Map<string, AgentsEndedSignal>();
  private isGivenUp = false;

  /** Ignores anything that is not an answer: anyone may send a signal. */
  answer(signal: unknown): void {
    const { success, data } = agentsEndedSchema.safeParse(signal);
    if (success) this.answers.set(data.key, data as AgentsEndedSignal);
  }

  /** All current and later waits report their agents as still running. */
  giveUp(): void {
    this.isGivenUp = true;
  }

  async run(agent: string, call: ToolCall, key: string): Promise<Waited> {
    const { callId, tool } = call;
    try {
      const {
        agent_ids: agentIds,
        mode,
        timeout_ms: timeoutMs,
      } = checked(agentsWaitCallSchema, `The call to ${tool}`, call.args);
      const turn = workflowInfo().workflowId;
      await getExternalWorkflowHandle(agentWorkflowId(agent)).signal(signalOf(AGENT_MESSAGES.awaitAgents), {
        key,
        turn,
        agentIds,
        mode,
        timeoutMs,
      });
      await condition(() => this.isGivenUp || this.answers.has(key));
      const { result, fault } = this.answers.get(key) ?? {};
      if (fault) return { result: failedCall(call, fault) };
      if (!result) return { result: { callId, tool, content: GIVEN_UP, isError: true } };
      const { usage, ...value } = result;
      return {
        result: { callId, tool, content: agentsText(value), isError: false, value: asJson(value) },
        usage,
      };
    } catch (err) {
      const known = err instanceof HoldfastError ? err : fromFailure(err);
      if (!known) throw err;
      return { result: failedCall(call, known) };
    }
  }
}

const GIVEN_UP =
  'The wait ended early because of another message. The sub-agents are still running: wait for them again.';

/** Interfaces have no index signature; this one is plain JSON. */
const asJson = (value: object): JsonValue => value as JsonValue;

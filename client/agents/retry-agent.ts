// Goes on where an agent failed: the agent itself if it is open, otherwise another one with its conversation.
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { AgentState } from '../../contracts/agents/agent';
import type { AgentHandle } from './agent-handle';

const GO_ON = 'Go on where you stopped.';
/** Enough for the checkpoints behind a message. */
const FEW = 10;

export interface RetryOptions {
  /** What it is to do. Default: the failed turn's message again; if that turn recorded steps, to go on where it stopped. */
  message?: string | undefined;
  /** The run that is meant: the id may be another agent's by now. Default: the present one. */
  runId?: string | undefined;
  /** The same again is the same retry. */
  key: string;
  /** Id of the agent that goes on in place of one that has ended. */
  newId: string;
}

/** Returns the id of the agent that goes on. Throws `not_found`, `invalid_input` and what `post` and `fork` throw. */
export async function retryAgent(
  agent: AgentHandle,
  { message, runId, key, newId }: RetryOptions,
): Promise<string> {
  const { isOver, runId: present } = await agent.run();
  const state = await agent.ownState(isOver ? (runId ?? present) : undefined);
  const last = message === undefined ? await unansweredMessage(agent, state) : undefined;
  const text = message ?? last?.text ?? GO_ON;
  if (!isOver) {
    await agent.post(text, { id: key });
    return agent.id;
  }
  if (runId !== undefined && runId !== present)
    throw new HoldfastError('invalid_input', {
      what: `The run of agent ${agent.id}`,
      got: runId,
      allowed: `the latest run with this id, ${present}`,
    });
  const { mode } = state;
  await agent.fork(newId, { at: last?.index ?? state.messages, task: text, mode }, key);
  return newId;
}

/** The message of a turn that recorded no step, and its place: it can be said again. Undefined if the last turn has steps. */
async function unansweredMessage(
  agent: AgentHandle,
  { messages: total, runId }: AgentState,
): Promise<{ text: string; index: number } | undefined> {
  const from = Math.max(0, total - FEW);
  const { messages } = await agent.page({ from, limit: FEW }, runId);
  const at = messages.findLastIndex(({ role }) => role !== 'checkpoint');
  const found = messages[at];
  return found?.role === 'user' ? { text: found.text, index: from + at } : undefined;
}

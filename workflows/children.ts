// `holdfast/workflows`: agents as children of your own workflows. Runs inside workflow code, so it is bundled
// with it; it contains no workflow and no schema.
import { executeChild, ParentClosePolicy, startChild, type ChildWorkflowOptions } from '@temporalio/workflow';
import type { AgentInput } from '../contracts/schemas/agent';
import type { AgentResult } from '../contracts/agents/agent';
import { HoldfastError } from '../contracts/errors/holdfast-error';
import { asFailure, fromFailure, toFailure } from '../contracts/errors/failure';
import { MAIN_TASK_QUEUE, agentWorkflowId } from '../contracts/ids';
import { asJson } from '../contracts/text/as-json';
import { asSummary, label } from '../contracts/text/labels';
import { WORKFLOWS } from '../contracts/messages';
import { AGENT_MESSAGES, TURN_MESSAGES } from '../contracts/messages/to-agents';
import { SESSION_MESSAGES } from '../contracts/messages/to-sessions';
import { definitionsOf } from './messages/definitions';

const { approve: approveAgent, deny: denyAgent, interrupt: interruptAgent, ...toAgents } = AGENT_MESSAGES;
const { state: turnState, ...toTurns } = TURN_MESSAGES;
const { lastView: output, ...toSessions } = SESSION_MESSAGES;
/** The signals, updates and queries of agents and their turns. */
export const agentMessages = definitionsOf({
  ...toAgents,
  ...{ approveAgent, denyAgent, interruptAgent },
  ...toTurns,
  turnState,
});
/** Those of sessions. */
export const sessionMessages = { ...definitionsOf(toSessions), ...definitionsOf({ output }) };

export type * from '../contracts/agents/agent';
export type * from '../contracts/models/model-call';
export type * from '../contracts/sessions/session';

const SHOWN_CHARACTERS = 200;

type AgentWorkflow = (input: AgentInput) => Promise<AgentResult>;

/** `taskQueue` is the queue of the agents' workers; default `holdfast`. */
export type AgentChildOptions = Omit<ChildWorkflowOptions, 'workflowId' | 'args'>;

/** An agent that runs as a child. */
export interface ChildAgent {
  readonly workflowId: string;
  /** Its result, however long that takes. Throws like `executeAgent`. */
  result(): Promise<AgentResult>;
  /** One more message for a conversation. */
  send(message: string): Promise<void>;
  /** Ends the turn, closes the sessions, ends the agent. */
  stop(reason?: string): Promise<void>;
}

/**
 * Runs an agent as a child and returns its result. Throws a ChildWorkflowFailure if the task fails; `agentError`
 * reads its reason. If its parent or scope is cancelled, it closes its sessions first and then throws an error for
 * which `isCancellation` is true. An agent whose parent ends is cancelled too, unless `parentClosePolicy` says
 * otherwise.
 */
export async function executeAgent(
  id: string,
  input: AgentInput,
  options: AgentChildOptions = {},
): Promise<AgentResult> {
  return executeChild<AgentWorkflow>(WORKFLOWS.agent, childOptions(id, input, options));
}

/** Starts an agent as a child and returns once it runs. */
export async function startAgent(
  id: string,
  input: AgentInput,
  options: AgentChildOptions = {},
): Promise<ChildAgent> {
  const child = await startChild<AgentWorkflow>(WORKFLOWS.agent, childOptions(id, input, options));
  return {
    workflowId: child.workflowId,
    result: () => child.result(),
    send: (message) => child.signal(agentMessages.sendSignal, { message }),
    stop: (reason) => child.signal(agentMessages.stopSignal, reason === undefined ? {} : { reason }),
  };
}

/** The error of Holdfast's catalogue behind a failed agent; its `code` says what went wrong. */
export const agentError = (err: unknown): HoldfastError | undefined => fromFailure(err);

function childOptions(
  id: string,
  input: AgentInput,
  options: AgentChildOptions,
): ChildWorkflowOptions & { workflowId: string; args: [AgentInput] } {
  return {
    staticSummary: summaryOf(input),
    parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
    taskQueue: MAIN_TASK_QUEUE,
    ...options,
    workflowId: checkedWorkflowId(id),
    args: [input],
  };
}

const checkedWorkflowId = (id: string): string => asFailure(() => agentWorkflowId(id));

/** The agent itself checks its input. This is only what cannot be summed up. */
function summaryOf(input: AgentInput | null | undefined): string {
  const task: unknown = input?.task ?? 'a conversation';
  if (input && typeof task === 'string') return asSummary(task);
  const got = label(asJson(input && { task }), SHOWN_CHARACTERS);
  const allowed = 'an object whose `task`, if it has one, is a text';
  throw toFailure(new HoldfastError('invalid_input', { what: 'The input of agent', got, allowed }));
}

// `holdfast/workflows`: agents as children of one's own workflows. Runs inside workflow code, so it is bundled
// with it; it holds no workflow and no schema.
import { executeChild, ParentClosePolicy, startChild, type ChildWorkflowOptions } from '@temporalio/workflow';
import type { AgentInput, AgentResult } from '../contracts/agent';
import { HoldfastError } from '../contracts/errors';
import { fromFailure, toFailure } from '../contracts/failure';
import { MAIN_TASK_QUEUE, agentWorkflowId } from '../contracts/ids';
import { asSummary } from '../contracts/labels';
import { WORKFLOWS } from '../contracts/messages';
import { sendSignal, stopSignal } from './agent-definitions';

export * as agentMessages from './agent-definitions';
export * as sessionMessages from './session-definitions';
export type * from '../contracts/agent';
export type * from '../contracts/session';

type AgentWorkflow = (input: AgentInput) => Promise<AgentResult>;

/** What Temporal takes for a child; an agent's id, queue and input are Holdfast's. */
/** `taskQueue` is that of the agents' workers, `holdfast` where none is named. */
export type AgentChildOptions = Omit<ChildWorkflowOptions, 'workflowId' | 'args'>;

/** An agent that runs as a child. */
export interface ChildAgent {
  readonly workflowId: string;
  /** Its result, however long that takes. Throws as `executeAgent`. */
  result(): Promise<AgentResult>;
  /** One more message for a conversation. */
  send(message: string): Promise<void>;
  /** Ends the turn, closes the sessions, ends the agent. */
  stop(reason?: string): Promise<void>;
}

/**
 * Runs an agent as a child and returns its result. Throws a ChildWorkflowFailure when the task fails; `agentError`
 * reads its reason. Cancelled with its parent or scope, it closes its sessions first, and then throws what
 * `isCancellation` is true of. An agent whose parent ends is cancelled too, unless `parentClosePolicy` says
 * otherwise.
 */
export async function executeAgent(
  id: string,
  input: AgentInput,
  options: AgentChildOptions = {},
): Promise<AgentResult> {
  return executeChild<AgentWorkflow>(WORKFLOWS.agent, childOptions(id, input, options));
}

/** Starts an agent as a child and returns when it runs. */
export async function startAgent(
  id: string,
  input: AgentInput,
  options: AgentChildOptions = {},
): Promise<ChildAgent> {
  const child = await startChild<AgentWorkflow>(WORKFLOWS.agent, childOptions(id, input, options));
  return {
    workflowId: child.workflowId,
    result: () => child.result(),
    send: (message) => child.signal(sendSignal, { message }),
    stop: (reason) => child.signal(stopSignal, reason === undefined ? {} : { reason }),
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
    staticSummary: asSummary(input.task ?? 'a conversation'),
    parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
    taskQueue: MAIN_TASK_QUEUE,
    ...options,
    workflowId: checkedWorkflowId(id),
    args: [input],
  };
}

/** A plain error would fail the workflow's task again and again: a wrong id ends the workflow. */
function checkedWorkflowId(id: string): string {
  try {
    return agentWorkflowId(id);
  } catch (err) {
    throw err instanceof HoldfastError ? toFailure(err) : err;
  }
}

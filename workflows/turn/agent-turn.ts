// One turn of an agent, as a child workflow.
import {
  ChildWorkflowFailure,
  getExternalWorkflowHandle,
  isCancellation,
  ParentClosePolicy,
  sleep,
  startChild,
  workflowInfo,
  type ChildWorkflowHandle,
} from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { AgentInput, AgentSettings } from '../../contracts/schemas/agent';
import type { Message, TurnResult } from '../../contracts/agents/agent';
import { shareOf } from '../../contracts/agents/shares';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import { turnWorkflowId } from '../../contracts/ids';
import { asSummary, inMarkdown } from '../../contracts/text/labels';
import { WORKFLOW_TASK_TIMEOUT } from '../../contracts/messages';
import { attributesOfAgent, attributesOfState, TURN_STATE } from '../../contracts/agents/work-state';
import { TURN_MESSAGES } from '../../contracts/messages/to-agents';
import { signalOf } from '../messages/definitions';
import type { Transcript } from './transcript';
import { turn } from './turn';

export interface TurnOfAgent {
  agent: string;
  number: number;
  message: string;
  settings: AgentSettings;
  /** The extent of the messages that the agent holds. */
  extent: Transcript['extent'];
  /** The conversation's steps before it. */
  stepsBefore: number;
  /** Whether its search attributes say what it is doing. */
  publishes: boolean;
  /** Called once it runs, with a function that interrupts it. */
  started: (interrupt: () => Promise<void>) => void;
}

/** A cancelled turn still returns what it has: a stop loses nothing of the conversation. */
export async function runTurn(of: TurnOfAgent): Promise<TurnResult> {
  const { agent, number, message, settings, extent, stepsBefore, publishes, started } = of;
  const { runId, firstExecutionRunId: born } = workflowInfo();
  const earlier = { ...extent, runId };
  const workflowId = turnWorkflowId(agent, number);
  const start = (): Promise<ChildWorkflowHandle<typeof turn>> =>
    startChild(turn, {
      workflowId,
      args: [{ agent, born, turn: number, message, settings, earlier, stepsBefore }],
      parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
      workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
      // The agent's starter may not have given it to the server.
      ...(settings.tenant !== undefined && { priority: shareOf(settings.tenant) }),
      staticSummary: asSummary(message),
      staticDetails: inMarkdown(message, 2_000),
      // So that the list of an agent's workflows includes its turns.
      typedSearchAttributes: [
        ...attributesOfAgent(agent),
        ...(publishes ? attributesOfState(TURN_STATE) : []),
      ],
    });
  try {
    const child = await afterLeftover(workflowId, start);
    started(() => child.signal(signalOf(TURN_MESSAGES.interrupt)));
    return await child.result();
  } catch (err) {
    if (isCancellation(err)) throw err;
    const failed = lossOf(err);
    if (!failed) throw err;
    const lost: Message[] = [{ role: 'user', text: message }];
    const error = failed.toData();
    // Without a number of calls: it is not known.
    return { answer: null, reason: 'model_error', error, steps: 0, messages: lost, sessions: [] };
  }
}

/** Undefined if it is not the turn that failed. */
function lossOf(err: unknown): HoldfastError | undefined {
  if (err instanceof HoldfastError) return err;
  if (!(err instanceof ChildWorkflowFailure)) return undefined;
  return new HoldfastError('internal', { reason: reasonOf(err.cause ?? err) });
}

/** A turn that is cancelled ends with its next task; a worker that was away may take a while to get to it. */
const LEFTOVER_PAUSES_MS = [200, 1_000, 3_000, 6_000];

/**
 * A turn of an agent that was terminated may still hold the id that the next agent of that name needs. Throws
 * `turn_left_over` if it does not end.
 */
async function afterLeftover<T>(workflowId: string, start: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await start();
    } catch (err) {
      if (!(err instanceof WorkflowExecutionAlreadyStartedError)) throw err;
    }
    const pauseMs = LEFTOVER_PAUSES_MS[attempt];
    if (pauseMs === undefined) throw new HoldfastError('turn_left_over', { got: workflowId });
    // It may have ended just now.
    if (attempt === 0)
      await getExternalWorkflowHandle(workflowId)
        .cancel()
        .catch(() => undefined);
    await sleep(pauseMs);
  }
}

const NOT_FOR_TURNS: readonly string[] = [
  'task',
  'mode',
  'keep',
  'openSessions',
  'idleMs',
  'from',
  'workspace',
] satisfies (keyof AgentInput)[];

/** The part of an agent's input that its turns get. */
export const settingsOf = (input: AgentInput): AgentSettings =>
  Object.fromEntries(
    Object.entries(input).filter(([name]) => !NOT_FOR_TURNS.includes(name)),
  ) as unknown as AgentSettings;

/** The input without what the conversation record holds: both together are one payload. */
export function continuedInput(input: AgentInput, mode: AgentInput['mode']): AgentInput {
  const lasting = Object.entries(input).filter(([name]) => name !== 'task' && name !== 'from');
  return { ...(Object.fromEntries(lasting) as unknown as AgentInput), ...(mode && { mode }) };
}

// The messages of an agent, as they are recorded.
import { setTimeout as delay } from 'node:timers/promises';
import type { AgentResult, AgentState, Message, TranscriptPage } from '../../contracts/agents/agent';
import { deliver, type Delivery } from '../delivery/deliver';
import { runningWorkflow, type RunningWorkflow } from './model-calls';

const FOLLOW_MS = 150;
/** How often the server is asked whether an agent that tells nothing new is over. */
const END_LOOK_MS = 1_000;

/** A message of the conversation, with its turn's number and its place in the turn. */
export interface FollowedMessage {
  turn: number;
  index: number;
  message: Message;
}

export interface FollowOptions {
  /** The first turn to report. Default 1. */
  fromTurn?: number | undefined;
  /** Called at every poll. */
  onState?: ((state: AgentState) => void) | undefined;
  /** Called after a turn's last message; null if another turn has ended in the meantime. */
  onTurnEnd?: ((turn: number, result: AgentResult | null) => void) | undefined;
}

export interface FollowedAgent {
  ownState(): Promise<AgentState>;
  turnPage(turn: number, from: number): Promise<TranscriptPage | undefined>;
}

/** Ends with the agent, however that ended, or when `signal` aborts. */
export async function* followAgent(
  agent: FollowedAgent,
  delivery: Delivery,
  signal: AbortSignal | undefined,
  { fromTurn = 1, onState, onTurnEnd }: FollowOptions,
): AsyncGenerator<FollowedMessage> {
  // What is read after that is all there is.
  let wasOver = false;
  let lookAt = 0;
  let turnsBefore = 0;
  for (let turn = fromTurn, index = 0; !signal?.aborted;) {
    const state = await agent.ownState();
    onState?.(state);
    const { turns, currentTurn, status } = state;
    // The server's reset has taken turns back, and their numbers come again.
    if (turns < turnsBefore && turn > turns) [turn, index] = [turns + 1, 0];
    turnsBefore = turns;
    const isTurnOver = turn < turns || (turn === turns && currentTurn === null);
    const page = turn <= turns ? await agent.turnPage(turn, index) : undefined;
    for (const message of page?.messages ?? []) yield { turn, index: index++, message };
    if (page && index < page.total) continue;
    // The server may no longer keep one that is over.
    if (isTurnOver) {
      onTurnEnd?.(turn, turn === lastEnded(state) ? state.lastResult : null);
      turn += 1;
      index = 0;
      continue;
    }
    if (wasOver || (status === 'ended' && turn > turns)) return;
    if (performance.now() >= lookAt) {
      wasOver = await isOver(delivery, state);
      lookAt = performance.now() + END_LOOK_MS;
    }
    if (!wasOver) await delay(FOLLOW_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** The turn of `lastResult`. */
const lastEnded = ({ turns, currentTurn }: AgentState): number => (currentTurn === null ? turns : turns - 1);

/** As the server knows it: one that was terminated cannot say so. Its turn is cancelled by that, and ends a moment later. */
async function isOver(delivery: Delivery, { currentTurn }: AgentState): Promise<boolean> {
  const look = (workflowId: string): Promise<RunningWorkflow | null> =>
    deliver({ ...delivery, needsWorker: false }, () => runningWorkflow(delivery.client, workflowId));
  const parts = await Promise.all(
    [delivery.workflowId, ...(currentTurn === null ? [] : [currentTurn])].map(look),
  );
  return parts.every((part) => part?.isOver ?? true);
}

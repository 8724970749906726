// The messages of an agent, as they are recorded.
import { setTimeout as delay } from 'node:timers/promises';
import type { AgentResult, AgentState, Message, TranscriptPage } from '../../contracts/agents/agent';
import { turnWorkflowId } from '../../contracts/ids';
import { deliver, type Delivery } from '../delivery/deliver';
import { runningWorkflow, type RunningWorkflow } from './model-calls';

const FOLLOW_MS = 150;
/** How often the server is asked whether an agent without news is over. */
const END_LOOK_MS = 1_000;

/** A message of the conversation, with its turn's number and its place in the turn. */
export interface FollowedMessage {
  turn: number;
  index: number;
  message: Message;
}

/** The next message to report. */
export interface FollowPlace {
  turn: number;
  index: number;
  /** The agent's run that it is of; absent: whichever answers. */
  runId?: string;
}

export interface FollowOptions {
  /** The first turn to report. Default 1. */
  fromTurn?: number | undefined;
  /** Instead: kept up to date, so that another follower goes on from there, for example after a lost connection. */
  place?: FollowPlace | undefined;
  /** Called at every poll. */
  onState?: ((state: AgentState) => void) | undefined;
  /** Called after a turn's last message; null if another turn has ended in the meantime. */
  onTurnEnd?: ((turn: number, result: AgentResult | null) => void) | undefined;
}

export interface FollowedAgent {
  ownState(): Promise<AgentState>;
  turnPage(turn: number, from: number): Promise<TranscriptPage | undefined>;
}

/** Ends with the agent, however that ended, or when `signal` aborts, whatever is asked at that moment. */
export async function* followAgent(
  agent: FollowedAgent,
  delivery: Delivery,
  signal: AbortSignal | undefined,
  options: FollowOptions,
): AsyncGenerator<FollowedMessage> {
  const messages = messagesOf(agent, { ...delivery, signal }, options);
  if (!signal) return yield* messages;
  try {
    while (!signal.aborted) {
      const next = await unlessAborted(messages.next(), signal);
      if (!next || next.done) return;
      yield next.value;
    }
  } finally {
    // It ends at its next step, which is not waited for.
    messages.return(undefined).catch(() => undefined);
  }
}

/** Undefined once the signal aborts, whatever becomes of the promise. */
const unlessAborted = <T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> =>
  new Promise((resolve, reject) => {
    const stop = (): void => resolve(undefined);
    signal.addEventListener('abort', stop, { once: true });
    void promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });

async function* messagesOf(
  agent: FollowedAgent,
  delivery: Delivery,
  { fromTurn = 1, place = { turn: fromTurn, index: 0 }, onState, onTurnEnd }: FollowOptions,
): AsyncGenerator<FollowedMessage, void> {
  const { signal } = delivery;
  // What is read after that is all there is.
  let wasOver = false;
  for (let lookAt = 0; !signal?.aborted;) {
    const state = await agent.ownState();
    // The place is another follower's from then on.
    if (signal?.aborted) return;
    onState?.(state);
    await comeToRun(place, state, delivery);
    const { turn } = place;
    const { turns, currentTurn, status } = state;
    const isTurnOver = turn < turns || (turn === turns && currentTurn === null);
    const page = (await hasBegun(place, state, delivery))
      ? await agent.turnPage(turn, place.index)
      : undefined;
    if (signal?.aborted) return;
    for (const message of page?.messages ?? []) yield { turn, index: place.index++, message };
    if (page && place.index < page.total) continue;
    // The server may no longer keep one that is over.
    if (isTurnOver) {
      onTurnEnd?.(turn, turn === lastEnded(state) ? state.lastResult : null);
      [place.turn, place.index] = [turn + 1, 0];
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

/**
 * The server's reset takes turns back, and their numbers come again: those that the present run began are new. Continuing
 * as new repeats none.
 */
async function comeToRun(place: FollowPlace, state: AgentState, delivery: Delivery): Promise<void> {
  const { agent, runId, turns, currentTurn } = state;
  if ((place.runId ??= runId) === runId) return;
  const isNew = async (turn: number): Promise<boolean> =>
    (await look(delivery, turnWorkflowId(agent, turn)))?.parentRunId === runId;
  const last = Math.min(place.turn, turns);
  let first = last + 1;
  while (first > 1 && (await isNew(first - 1))) first -= 1;
  // The current turn is of an earlier run: it goes on, or will be replaced by one that the next look sees.
  if (first > turns && currentTurn !== null) return;
  if (first <= place.turn) [place.turn, place.index] = [first, 0];
  place.runId = runId;
}

/** Until the turn of a run that was reset has begun, the one that it replaces answers for it. */
async function hasBegun(
  { turn, index }: FollowPlace,
  state: AgentState,
  delivery: Delivery,
): Promise<boolean> {
  const { turns, currentTurn, runId } = state;
  if (turn !== turns || currentTurn === null || index > 0) return turn <= turns;
  const found = await look(delivery, currentTurn);
  return found !== null && !(found.isOver && found.parentRunId !== runId);
}

/** The turn of `lastResult`. */
const lastEnded = ({ turns, currentTurn }: AgentState): number => (currentTurn === null ? turns : turns - 1);

/** As the server knows it: one that was terminated cannot say so. Its turn is cancelled by that, and ends a moment later. */
async function isOver(delivery: Delivery, { currentTurn }: AgentState): Promise<boolean> {
  const parts = await Promise.all(
    [delivery.workflowId, ...(currentTurn === null ? [] : [currentTurn])].map((id) => look(delivery, id)),
  );
  return parts.every((part) => part?.isOver ?? true);
}

const look = (delivery: Delivery, workflowId: string): Promise<RunningWorkflow | null> =>
  deliver({ ...delivery, needsWorker: false }, () => runningWorkflow(delivery.client, workflowId));

// The events of one agent. Recorded ones are numbered by their place in the conversation, so an id is enough to go on
// from anywhere, on any gateway: messages (`12@RUN`), ends of turns (`12.end@RUN`, after message 12), the agent's end
// (`ended@RUN`). RUN tells agents apart that had the same id one after the other; clients may still hold ids without it.
import { setTimeout as delay } from 'node:timers/promises';
import type { AgentHandle } from '../../client/agents/agent-handle';
import type { AgentOverview } from '../../contracts/agents/agent';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { AgentFeed } from './agent-feed';
import type { Event } from './event';
import { LiveQueue } from './live-events';

/** Where a client is. */
export interface Position {
  /** Its next message, and whether the end of the turn before it was told; `ended`: nothing follows. */
  place: { next: number; isEndTold: boolean } | 'ended';
  /** Undefined in an id that names none: it is taken for the present run's. */
  run: string | undefined;
}

const BEGINNING = { next: 0, isEndTold: true };

/** Throws `invalid_input`. */
export function positionAfter(id: string | undefined): Position {
  if (id === undefined || id === '') return { place: BEGINNING, run: undefined };
  const [, index, end, ended, run] = /^(?:(\d{1,9})(\.end)?|(ended))(?:@([0-9a-f]{1,32}))?$/.exec(id) ?? [];
  if (ended !== undefined) return { place: 'ended', run };
  if (index !== undefined) return { place: { next: Number(index) + 1, isEndTold: end !== undefined }, run };
  throw new HoldfastError('invalid_input', {
    what: 'Last-Event-ID',
    got: JSON.stringify(id),
    allowed: 'the id of an event of this agent, or none for all from the beginning',
  });
}

/** As ids name it: the end of its UUID, the beginning is a time. */
export const nameOfRun = (firstRunId: string): string => firstRunId.replaceAll('-', '').slice(-12);

/**
 * Whether the client has seen the end of the agent that the id means now. Throws `not_found` for an agent that the server
 * does not know.
 */
export async function hasSeenEnd({ place, run }: Position, agent: AgentHandle): Promise<boolean> {
  const { firstRunId, isOver } = await agent.run();
  if (place !== 'ended') return false;
  if (run !== undefined) return run === nameOfRun(firstRunId);
  // The agent says that it has ended before its workflow is closed.
  const hasEnded = (): Promise<boolean> => agent.ownState().then(({ status }) => status === 'ended');
  return isOver || hasEnded().catch(() => false);
}

const AGAIN_MS = 500;

/** Never ends before the agent does, or `signal` aborts. */
export async function* agentEvents(
  feed: AgentFeed,
  position: Position,
  signal: AbortSignal,
): AsyncGenerator<Event, void> {
  const stop = feed.follow();
  const live = new LiveQueue(feed.live);
  const nudge = (): void => live.nudge();
  const deaf = feed.onChange(nudge);
  signal.addEventListener('abort', nudge, { once: true });
  try {
    let { next, isEndTold } = BEGINNING;
    let run: string | undefined;
    let told = -1;
    while (!signal.aborted) {
      const { version, state } = feed;
      const named = (id: string): string => (run === undefined ? id : `${id}@${run}`);
      if (feed.isGone) {
        yield end('it is no longer kept', named('ended'));
        return;
      }
      if (state && run !== nameOfRun(feed.run)) {
        // What a client has seen of an earlier agent under this id says nothing of this one.
        ({ next, isEndTold } = run === undefined ? placeIn(feed, state, position) : BEGINNING);
        run = nameOfRun(feed.run);
      }
      if (state && version !== told) yield { event: 'state', data: state };
      told = version;
      const page = state ? await feed.messages(next).catch(() => undefined) : [];
      if (!page) {
        // Its worker is away. Nothing says when it is back, and the state may then be the same.
        await delay(AGAIN_MS, undefined, { signal }).catch(() => undefined);
        continue;
      }
      for (const message of page) {
        // A user's message begins a turn: the one before has ended.
        if (message.role === 'user' && !isEndTold) yield turnEnd(next - 1, null, named);
        yield { event: 'message', id: named(String(next)), data: { index: next, message } };
        isEndTold = message.role === 'context';
        next += 1;
      }
      if (page.length > 0 || feed.version !== version) continue;
      if (state && state.currentTurn === null && next >= state.messages) {
        if (!isEndTold) yield turnEnd(next - 1, state.lastResult, named);
        isEndTold = true;
        if (state.status === 'ended') {
          yield end('ended', named('ended'));
          return;
        }
      }
      yield* live.take();
      await live.stirred();
    }
  } finally {
    signal.removeEventListener('abort', nudge);
    deaf();
    live.close();
    stop();
  }
}

/** An id beyond the end is of another run, or of none. */
function placeIn(
  feed: AgentFeed,
  { messages, currentTurn, turn }: AgentOverview,
  { place, run }: Position,
): Exclude<Position['place'], 'ended'> {
  if (place === 'ended' || (run !== undefined && run !== nameOfRun(feed.run))) return BEGINNING;
  // A turn that does not answer may have any number.
  const most = messages + (currentTurn === null ? 0 : (turn?.messages ?? Infinity));
  return place.next <= most ? place : BEGINNING;
}

const end = (how: string, id: string): Event => ({ event: 'ended', id, data: { how } });

const turnEnd = (after: number, result: unknown, named: (id: string) => string): Event => ({
  event: 'turn_ended',
  id: named(`${after}.end`),
  data: { after, result },
});

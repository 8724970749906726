// The events of one agent. Recorded ones are numbered by their place in the conversation, so an id is enough to go on
// from anywhere, on any gateway: messages (`12`), ends of turns (`12.end`, after message 12), the agent's end (`ended`).
import { setTimeout as delay } from 'node:timers/promises';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { AgentFeed } from './agent-feed';
import type { Event } from './event';
import { LiveQueue } from './live-events';

/** Where a client is: the next message, and whether the end of the turn before it was told. */
export interface Position {
  next: number;
  isEndTold: boolean;
}

/** Throws `invalid_input`. Undefined: the client has seen the agent's end. */
export function positionAfter(id: string | undefined): Position | undefined {
  if (id === undefined || id === '') return { next: 0, isEndTold: true };
  if (id === 'ended') return undefined;
  const [, index, end] = /^(\d{1,9})(\.end)?$/.exec(id) ?? [];
  if (index !== undefined) return { next: Number(index) + 1, isEndTold: end !== undefined };
  throw new HoldfastError('invalid_input', {
    what: 'Last-Event-ID',
    got: JSON.stringify(id),
    allowed: 'the id of an event of this agent, or none for all from the beginning',
  });
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
    let { next, isEndTold } = position;
    let told = -1;
    while (!signal.aborted) {
      const { version, state } = feed;
      if (feed.isGone) {
        yield end('it is no longer kept');
        return;
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
        if (message.role === 'user' && !isEndTold) yield turnEnd(next - 1, null);
        yield { event: 'message', id: String(next), data: { index: next, message } };
        isEndTold = message.role === 'context';
        next += 1;
      }
      if (page.length > 0 || feed.version !== version) continue;
      if (state && state.currentTurn === null && next >= state.messages) {
        if (!isEndTold) yield turnEnd(next - 1, state.lastResult);
        isEndTold = true;
        if (state.status === 'ended') {
          yield end('ended');
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

const end = (how: string): Event => ({ event: 'ended', id: 'ended', data: { how } });

const turnEnd = (after: number, result: unknown): Event => ({
  event: 'turn_ended',
  id: `${after}.end`,
  data: { after, result },
});

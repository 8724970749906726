// The events of one agent. Recorded ones are numbered by their place in the conversation of a run, so an id is enough to go
// on from anywhere, on any gateway: messages (`12@RUN`), ends of turns (`12.end@RUN`, after message 12), the agent's end
// (`ended@RUN`). When an agent continues as new, the next run's conversation begins with what its model still sees: those
// messages were sent. An id without a run is taken for one of the present run.
import { setTimeout as delay } from 'node:timers/promises';
import type { AgentHandle } from '../../client/agents/agent-handle';
import type { AgentOverview, AgentState, Message } from '../../contracts/agents/agent';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { AgentFeed } from './agent-feed';
import type { Event } from './event';
import { LiveQueue } from './live-events';

/** Where a client is. */
export interface Position {
  /** Its next message, and whether the end of the turn before it was sent; `ended`: nothing follows. */
  place: { next: number; isEndSent: boolean } | 'ended';
  /** Undefined in an id that names none: it is taken for the present run's. */
  run: string | undefined;
}

const BEGINNING = { next: 0, isEndSent: true };

/** Throws `invalid_input`. */
export function positionAfter(id: string | undefined): Position {
  if (id === undefined || id === '') return { place: BEGINNING, run: undefined };
  const [, index, end, ended, run] = /^(?:(\d{1,9})(\.end)?|(ended))(?:@([0-9a-f]{1,32}))?$/.exec(id) ?? [];
  if (ended !== undefined) return { place: 'ended', run };
  if (index !== undefined) return { place: { next: Number(index) + 1, isEndSent: end !== undefined }, run };
  throw new HoldfastError('invalid_input', {
    what: 'Last-Event-ID',
    got: JSON.stringify(id),
    allowed: 'the id of an event of this agent, or none for all from the beginning',
  });
}

/** As ids name it: the end of its UUID, the beginning is a time. */
const nameOfRun = (runId: string): string => runId.replaceAll('-', '').slice(-12);

/**
 * Whether the client has seen the end of the agent that the id means now. Throws `not_found` for an agent that the server
 * does not know.
 */
export async function hasSeenEnd({ place, run }: Position, agent: AgentHandle): Promise<boolean> {
  const { runId, isOver } = await agent.run();
  if (place !== 'ended') return false;
  if (run !== undefined) return run === nameOfRun(runId);
  // The agent says that it has ended before its workflow is closed.
  const hasEnded = (): Promise<boolean> => agent.ownState().then(({ status }) => status === 'ended');
  return isOver || hasEnded().catch(() => false);
}

const AGAIN_MS = 500;

/** How many messages there may be. A turn that does not answer may have any number. */
const mostOf = ({ messages, currentTurn, turn }: AgentOverview): number =>
  messages + (currentTurn === null ? 0 : (turn?.messages ?? Infinity));

/** How much of what is recorded a client has got. */
class Progress {
  /** The name of the run whose conversation it is in. */
  private run: string | undefined;
  private next: number;
  private isEndSent: boolean;
  /** Its place is what it was sent, not only what it says. */
  private isPlaced = false;
  /** It was sent more than the state has: by a gateway that knew more, or of a turn that was lost since. */
  private isAhead = false;

  constructor({ place, run }: Position) {
    // What a client has seen of an agent that has ended says nothing of the present one.
    const isOver = place === 'ended';
    this.run = isOver ? undefined : run;
    ({ next: this.next, isEndSent: this.isEndSent } = isOver ? BEGINNING : place);
  }

  /** Comes to the present run, and yields what is left of those before it. After an error it can be called again. */
  async *comeTo(state: AgentOverview, feed: AgentFeed): AsyncGenerator<Event, void> {
    const { run } = this;
    if (run === undefined || run === nameOfRun(state.runId)) {
      if (!this.isPlaced) this.place(state);
      if (this.isAhead) await this.catchUp(state, feed);
      return;
    }
    const missed = await feed.runsSince(state, (runId) => run === nameOfRun(runId));
    // Another gateway may have sent it a run that has begun since.
    if (!missed && !(await feed.isOfPresentRun(state))) throw new Error('the state is of an earlier run');
    for (const earlier of missed ?? []) {
      if (this.run !== nameOfRun(earlier.runId)) this.enter(earlier);
      yield* this.rest(earlier, feed);
    }
    this.enter(missed ? state : { ...state, carried: 0 });
  }

  private async *rest({ runId, lastResult }: AgentState, feed: AgentFeed): AsyncGenerator<Event, void> {
    for (;;) {
      const page = await feed.earlierMessages(runId, this.next);
      if (page.length === 0) break;
      yield* this.messages(page);
    }
    yield* this.turnEnd(lastResult);
  }

  /** Where a client that has just come says it is. An id that names no run and is beyond the end is of another run. */
  private place(state: AgentOverview): void {
    this.isAhead = this.next > mostOf(state);
    if (this.isAhead && this.run === undefined) {
      ({ next: this.next, isEndSent: this.isEndSent } = BEGINNING);
      this.isAhead = false;
    }
    this.run = nameOfRun(state.runId);
    this.isPlaced = true;
  }

  private async catchUp(state: AgentOverview, feed: AgentFeed): Promise<void> {
    this.isAhead = this.next > mostOf(state);
    if (!this.isAhead) return;
    // Asked now, the agent knows all that there is: what it does not know of was lost with its turn.
    const present = await feed.presentState();
    if (present.runId === state.runId && this.next > mostOf(present)) this.next = present.messages;
  }

  private enter({ runId, carried = 0 }: AgentState): void {
    this.run = nameOfRun(runId);
    this.next = carried;
    this.isEndSent = true;
    this.isPlaced = true;
  }

  /** What follows in the present run. */
  page(feed: AgentFeed): Promise<Message[]> {
    return feed.messages(this.next);
  }

  *messages(page: readonly Message[]): Generator<Event, void> {
    for (const message of page) {
      // A user's message begins a turn, and a rewind comes between two: the one before has ended.
      const { role } = message;
      if (role === 'user' || role === 'rewind') yield* this.turnEnd(null);
      yield { event: 'message', id: this.named(`${this.next}`), data: { index: this.next, message } };
      this.isEndSent = role === 'context' || role === 'rewind';
      this.next += 1;
    }
  }

  *turnEnd(result: unknown): Generator<Event, void> {
    const after = this.next - 1;
    if (!this.isEndSent)
      yield { event: 'turn_ended', id: this.named(`${after}.end`), data: { after, result } };
    this.isEndSent = true;
  }

  /** If all of the state has been sent and no turn runs. */
  *lastTurnEnd({ messages, currentTurn, lastResult }: AgentOverview): Generator<Event, void> {
    if (currentTurn !== null || (this.isAhead ? this.next !== messages : this.next < messages)) return;
    yield* this.turnEnd(lastResult);
    // The messages of a turn that was lost are gone with it: what comes next has their places.
    this.next = messages;
  }

  end(how: string): Event {
    return { event: 'ended', id: this.named('ended'), data: { how } };
  }

  private named(place: string): string {
    return this.run === undefined ? place : `${place}@${this.run}`;
  }
}

/**
 * Never ends before the agent does, or `signal` aborts.
 * @param open gets the feed, once somebody reads: one that is never followed would be kept for ever
 */
export async function* agentEvents(
  open: () => AgentFeed,
  position: Position,
  signal: AbortSignal,
): AsyncGenerator<Event, void> {
  const feed = open();
  const stop = feed.follow();
  const live = new LiveQueue(feed.live);
  const nudge = (): void => live.nudge();
  const deaf = feed.onChange(nudge);
  signal.addEventListener('abort', nudge, { once: true });
  const progress = new Progress(position);
  try {
    let version = -1;
    while (!signal.aborted) {
      const { version: present, state } = feed;
      if (feed.silence !== undefined) {
        yield progress.end(feed.silence);
        return;
      }
      let page: Message[] = [];
      try {
        if (state) yield* progress.comeTo(state, feed);
        if (state && version !== present) yield { event: 'state', data: state };
        version = present;
        // While this client read, the agent may have come to its next run.
        if (state && feed.state?.runId !== state.runId) continue;
        if (state) page = await progress.page(feed);
      } catch {
        // Its worker is away, or the client knows more than the state. Nothing says when that is over, and the state may then
        // be the same.
        await delay(AGAIN_MS, undefined, { signal }).catch(() => undefined);
        continue;
      }
      yield* progress.messages(page);
      if (page.length > 0 || feed.version !== present) continue;
      if (state) yield* progress.lastTurnEnd(state);
      // The turn of an agent that was terminated ends after it.
      if (state?.status === 'ended' && (state.currentTurn === null || feed.isOver)) {
        yield progress.end('ended');
        return;
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

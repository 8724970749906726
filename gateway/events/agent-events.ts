// The events of one agent. Recorded ones are numbered by their place in the conversation, so an id is enough to go on
// from anywhere, on any gateway: messages (`12`), ends of turns (`12.end`, after message 12), the agent's end (`ended`).
import type { Message } from '../../contracts/agents/agent';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { followTokens } from '../../client/agents/live-tokens';
import { logEnd } from '../../exec/output/log-reader';
import { sessionPaths } from '../../exec/session-paths';
import type { AgentFeed } from './agent-feed';
import type { Event } from './event';

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

/** Never ends before the agent does, or `signal` aborts. */
export async function* agentEvents(
  dataDir: string,
  feed: AgentFeed,
  position: Position,
  signal: AbortSignal,
): AsyncGenerator<Event, void> {
  const stop = feed.follow();
  const live = new LiveEvents(dataDir, feed, signal);
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
      const page: Message[] = state ? await feed.messages(next).catch(() => []) : [];
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
      await Promise.race([feed.changed(version, signal), live.filled()]);
    }
  } finally {
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

const LOOK_MS = 250;
const MAX_KEPT = 2_000;

/** What is of the moment: tokens as the model writes them, and how far the sessions' logs have grown. */
class LiveEvents {
  private events: Event[] = [];
  private wake: (() => void) | undefined;
  private readonly ended = new AbortController();
  private readonly ends = new Map<string, number>();
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly dataDir: string,
    private readonly feed: AgentFeed,
    signal: AbortSignal,
  ) {
    signal.addEventListener('abort', () => this.close(), { once: true });
    void this.tokens();
    this.timer = setInterval(() => this.look(), LOOK_MS);
  }

  *take(): Generator<Event> {
    const { events } = this;
    this.events = [];
    yield* events;
  }

  filled(): Promise<void> {
    if (this.events.length > 0) return Promise.resolve();
    return new Promise((resolve) => (this.wake = resolve));
  }

  close(): void {
    this.ended.abort();
    clearInterval(this.timer);
    this.wake?.();
  }

  private put(event: Event): void {
    // Of a client that does not read, nothing is kept that the recorded events do not tell.
    if (this.events.length === MAX_KEPT) this.events = [];
    this.events.push(event);
    this.wake?.();
  }

  private async tokens(): Promise<void> {
    const { dataDir } = this;
    for await (const data of followTokens({ dataDir, agent: this.feed.id, signal: this.ended.signal }))
      this.put({ event: 'token', data });
  }

  private look(): void {
    const { dataDir } = this;
    for (const { host, session } of this.feed.state?.shells ?? []) {
      const key = `${host} ${session}`;
      try {
        const end = logEnd(sessionPaths(dataDir, { agent: this.feed.id, host, session }).log);
        if (end === (this.ends.get(key) ?? 0)) continue;
        this.ends.set(key, end);
        this.put({ event: 'output', data: { host, session, end } });
      } catch {
        // Its log is just being made, or elsewhere.
      }
    }
  }
}

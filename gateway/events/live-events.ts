// What is of the moment in one agent, for all who follow it: tokens as the model writes them, and how far the logs of its
// sessions have grown.
import { EventEmitter } from 'node:events';
import { followTokens } from '../../client/agents/live-tokens';
import type { Shell } from '../../contracts/agents/agent';
import { logEnd } from '../../exec/output/log-reader';
import { sessionPaths } from '../../exec/session-paths';
import type { Event } from './event';

const LOOK_MS = 250;

export class LiveEvents {
  private readonly emitter = new EventEmitter().setMaxListeners(0);
  private readonly ends = new Map<string, Event>();

  constructor(
    private readonly dataDir: string,
    private readonly agent: string,
    private readonly shells: () => readonly Shell[],
  ) {}

  /** Until `signal` aborts. */
  watch(signal: AbortSignal): void {
    const timer = setInterval(() => this.look(), LOOK_MS);
    signal.addEventListener('abort', () => clearInterval(timer), { once: true });
    void this.tokens(signal);
  }

  /** Calls `take` with where the logs end now, and with each event, until the returned function is called. */
  subscribe(take: (event: Event) => void): () => void {
    for (const event of this.ends.values()) take(event);
    this.emitter.on('event', take);
    return () => void this.emitter.off('event', take);
  }

  private async tokens(signal: AbortSignal): Promise<void> {
    for await (const data of followTokens({ dataDir: this.dataDir, agent: this.agent, signal }))
      this.emitter.emit('event', { event: 'token', data } satisfies Event);
  }

  private look(): void {
    for (const { host, session } of this.shells()) {
      try {
        const end = logEnd(sessionPaths(this.dataDir, { agent: this.agent, host, session }).log);
        this.tell(`${host} ${session}`, { host, session, end });
      } catch {
        // Its log is just being made, or elsewhere.
      }
    }
  }

  private tell(key: string, data: { host: string; session: number; end: number }): void {
    const before = this.ends.get(key)?.data as { end: number } | undefined;
    if (data.end === (before?.end ?? 0)) return;
    const event: Event = { event: 'output', data };
    this.ends.set(key, event);
    this.emitter.emit('event', event);
  }
}

const MAX_KEPT = 2_000;

/** What one follower has not read yet. */
export class LiveQueue {
  private events: Event[] = [];
  private wake: (() => void) | undefined;
  private isNudged = false;
  private readonly leave: () => void;

  constructor(source: LiveEvents) {
    this.leave = source.subscribe((event) => {
      // Of a client that does not read, nothing is kept that the recorded events do not tell.
      if (this.events.length === MAX_KEPT) this.events = [];
      this.events.push(event);
      this.wake?.();
    });
  }

  take(): Event[] {
    const { events } = this;
    this.events = [];
    return events;
  }

  /** Something else has happened. */
  nudge(): void {
    this.isNudged = true;
    this.wake?.();
  }

  /** Resolves when there is something to take, or after a nudge. */
  async stirred(): Promise<void> {
    if (this.events.length === 0 && !this.isNudged)
      await new Promise<void>((resolve) => (this.wake = resolve));
    this.isNudged = false;
  }

  close(): void {
    this.leave();
    this.nudge();
  }
}

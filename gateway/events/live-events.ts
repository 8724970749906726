// What is of the moment in one agent, for all who follow it: tokens as the model writes them, and how far the logs of its
// sessions have grown.
import { EventEmitter } from 'node:events';
import { followTokens } from '../../client/agents/live-tokens';
import type { RunningModelCall } from '../../client/agents/model-calls';
import type { ShellState } from '../../contracts/agents/agent';
import type { LiveToken } from '../../contracts/models/live-tokens';
import { logEnd } from '../../exec/output/log-reader';
import { sessionPaths } from '../../exec/session-paths';
import type { Event } from './event';
import { GAP, WrittenElsewhere } from './written-elsewhere';

const LOOK_MS = 250;

/** Where the logs of this machine's sessions are. */
export interface LogsHere {
  dataDir: string;
  /** Whether the folder has a host of this name that is another machine's. */
  isElsewhere: (host: string) => boolean;
}

export class LiveEvents {
  private readonly emitter = new EventEmitter().setMaxListeners(0);
  private readonly ends = new Map<string, Event>();
  private readonly elsewhere: WrittenElsewhere;

  constructor(
    private readonly place: LogsHere,
    private readonly agent: string,
    private readonly shells: () => readonly ShellState[],
  ) {
    this.elsewhere = new WrittenElsewhere(place.dataDir, agent);
  }

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

  /** What the server knows of the running turn's call of the model: of workers of other machines there is no more. */
  written(turn: string | null, call: RunningModelCall | null): void {
    for (const data of this.elsewhere.look(turn, call))
      this.emitter.emit('event', { event: 'token', data } satisfies Event);
  }

  private async tokens(signal: AbortSignal): Promise<void> {
    for await (const data of followTokens({ dataDir: this.place.dataDir, agent: this.agent, signal }))
      this.emitter.emit('event', { event: 'token', data } satisfies Event);
  }

  private look(): void {
    for (const { host, session, logEnd: reported } of this.shells()) {
      const { dataDir, isElsewhere } = this.place;
      const { log } = sessionPaths(dataDir, { agent: this.agent, host, session });
      const known = isElsewhere(host) ? 0 : endOf(log);
      // Of a log on another machine only its workflow knows something: what was reported to it.
      this.publishEnd(`${host} ${session}`, { host, session, end: known || (reported ?? 0) });
    }
  }

  private publishEnd(key: string, data: { host: string; session: number; end: number }): void {
    const before = this.ends.get(key)?.data as { end: number } | undefined;
    if (data.end === (before?.end ?? 0)) return;
    const event: Event = { event: 'output', data };
    this.ends.set(key, event);
    this.emitter.emit('event', event);
  }
}

/** 0 for a log that is just being made, or elsewhere. */
function endOf(log: string): number {
  try {
    return logEnd(log);
  } catch {
    return 0;
  }
}

const MAX_KEPT = 2_000;

/** Of a reply whose tokens are dropped, what came before them is shown no longer: it may have been discarded meanwhile. */
function gapIn(dropped: readonly Event[]): Event[] {
  const last = dropped.findLast(({ event }) => event === 'token')?.data as LiveToken | undefined;
  if (last === undefined || last.kind === 'end') return [];
  const { agent, turn } = last;
  const tokens: LiveToken[] = [
    { kind: 'reset', agent, turn },
    { kind: 'text', agent, turn, text: GAP },
  ];
  return tokens.map((data) => ({ event: 'token', data }));
}

/** What one follower has not read yet. */
export class LiveQueue {
  private events: Event[] = [];
  private wake: (() => void) | undefined;
  private isNudged = false;
  private readonly leave: () => void;

  constructor(source: LiveEvents) {
    this.leave = source.subscribe((event) => {
      // Of a client that does not read, nothing is kept that the recorded events do not have, but that a reply has a gap.
      if (this.events.length === MAX_KEPT) this.events = gapIn(this.events);
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

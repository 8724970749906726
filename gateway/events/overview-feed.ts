// What waits for a person and which agents are open, watched once for all who follow it, while anybody does.
import { createHash } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { AgentEntry } from '../../client/agents/agent-directory';
import { mayUse, type Caller } from '../access/grants';
import type { HoldfastClient } from '../../client/holdfast-client';
import type { DismissedRuns } from '../inbox/dismissed-runs';
import { inboxOf, readInbox, type Inbox } from '../inbox/read-inbox';
import { knownError } from '../../system/known-error';
import type { Event } from './event';

const LOOK_MS = 1_000;
/** How many times as long as the look at the agents the pause after it is, at least: thousands take seconds to list. */
const PAUSE_PER_LOOK = 9;
const AGENTS_SHOWN = 100;
const MAX_AGENTS = 10_000;

/** An open agent, and how its entry reads: compared at each look, for each follower. */
interface Open {
  entry: AgentEntry;
  text: string;
}

/** The code of the error of the last look; null if it succeeded. */
type Trouble = Record<'inbox' | 'agents', string | null>;

interface Known {
  inbox?: Inbox;
  agents?: Open[];
  /** From the first look on, also without any: a follower may still show what an earlier gateway said. */
  trouble?: Trouble;
}

export class OverviewFeed {
  private known: Known = {};
  private version = 0;
  private followers = 0;
  private watching: AbortController | undefined;
  private readonly changes = new EventEmitter().setMaxListeners(0);

  constructor(private readonly dismissed: Pick<DismissedRuns, 'all'>) {}

  async *follow(client: HoldfastClient, caller: Caller, signal: AbortSignal): AsyncGenerator<Event, void> {
    this.followers += 1;
    this.start(client);
    const sent: Record<string, string> = {};
    try {
      while (!signal.aborted) {
        const { version, known } = this;
        for (const event of [
          known.trouble && { event: 'trouble', data: known.trouble },
          known.inbox && {
            event: 'inbox',
            data: { ...known.inbox, items: inboxOf(known.inbox.items, caller) },
          },
          known.agents && { event: 'agents', data: agentsOf(known.agents, caller) },
        ]) {
          if (!event) continue;
          const text = JSON.stringify(event.data);
          if (sent[event.event] === text) continue;
          sent[event.event] = text;
          yield event;
        }
        while (this.version === version && !signal.aborted)
          await once(this.changes, 'change', { signal }).catch(() => undefined);
      }
    } finally {
      this.followers -= 1;
      if (this.followers === 0) {
        this.watching?.abort();
        // The next follower must not get how it was then.
        this.known = {};
      }
    }
  }

  private learn(news: Known): void {
    const isKnown = ([name, now]: [string, unknown]): boolean =>
      JSON.stringify(now) === JSON.stringify(this.known[name as keyof Known]);
    if (Object.entries(news).every(isKnown)) return;
    this.known = { ...this.known, ...news };
    this.version += 1;
    this.changes.emit('change');
  }

  private start(client: HoldfastClient): void {
    if (this.watching && !this.watching.signal.aborted) return;
    this.watching = new AbortController();
    const { signal } = this.watching;
    void this.watch('inbox', () => readInbox(client, this.dismissed), signal);
    void this.watch('agents', () => openAgents(client), signal);
  }

  private async watch<Name extends 'inbox' | 'agents'>(
    name: Name,
    read: () => Promise<NonNullable<Known[Name]>>,
    signal: AbortSignal,
  ): Promise<void> {
    while (!signal.aborted) {
      const began = performance.now();
      let news: Known = {};
      let fault: string | null = null;
      try {
        news = { [name]: await read() };
      } catch (err) {
        // What was said last stays, for example while the server is away, with the word that it may be old.
        fault = knownError(err).code;
      }
      if (signal.aborted) return;
      news.trouble = { inbox: null, agents: null, ...this.known.trouble, [name]: fault };
      this.learn(news);
      const pauseMs = name === 'agents' ? PAUSE_PER_LOOK * (performance.now() - began) : 0;
      await delay(Math.max(LOOK_MS, pauseMs), undefined, { signal }).catch(() => undefined);
    }
  }
}

async function openAgents(client: HoldfastClient): Promise<Open[]> {
  const open: Open[] = [];
  for await (const entry of client.agents.list()) {
    open.push({ entry, text: JSON.stringify(entry) });
    if (open.length === MAX_AGENTS) break;
  }
  return open;
}

/** Cut only when it is the caller's: the agents of others must not hide them. A change beyond the cut changes `mark`. */
function agentsOf(
  open: readonly Open[],
  caller: Caller,
): { items: AgentEntry[]; others: { count: number; mark: string } | null } {
  const mine = open.filter(({ entry: { id } }) => mayUse(caller, id));
  const items = mine.slice(0, AGENTS_SHOWN).map(({ entry }) => entry);
  const rest = mine.slice(AGENTS_SHOWN);
  if (rest.length === 0) return { items, others: null };
  const hash = createHash('sha256');
  for (const { text } of rest) hash.update(text);
  return { items, others: { count: rest.length, mark: hash.digest('base64url').slice(0, 16) } };
}

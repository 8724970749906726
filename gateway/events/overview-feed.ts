// What waits for a person and which agents are open, watched once for all who follow it, while anybody does.
import { createHash } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { AgentEntry } from '../../client/agents/agent-directory';
import type { InboxItem } from '../../contracts/gateway/api';
import { mayUse, type Caller } from '../access/grants';
import type { HoldfastClient } from '../../client/holdfast-client';
import { inboxOf, readInbox } from '../inbox/read-inbox';
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

export class OverviewFeed {
  private known: { inbox?: InboxItem[]; agents?: Open[] } = {};
  private version = 0;
  private followers = 0;
  private watching: AbortController | undefined;
  private readonly changes = new EventEmitter().setMaxListeners(0);

  async *follow(client: HoldfastClient, caller: Caller, signal: AbortSignal): AsyncGenerator<Event, void> {
    this.followers += 1;
    this.start(client);
    const told: Record<string, string> = {};
    try {
      while (!signal.aborted) {
        const { version, known } = this;
        for (const event of [
          known.inbox && { event: 'inbox', data: { items: inboxOf(known.inbox, caller) } },
          known.agents && { event: 'agents', data: agentsOf(known.agents, caller) },
        ]) {
          if (!event) continue;
          const text = JSON.stringify(event.data);
          if (told[event.event] === text) continue;
          told[event.event] = text;
          yield event;
        }
        while (this.version === version && !signal.aborted)
          await once(this.changes, 'change', { signal }).catch(() => undefined);
      }
    } finally {
      this.followers -= 1;
      if (this.followers === 0) this.watching?.abort();
    }
  }

  private start(client: HoldfastClient): void {
    if (this.watching && !this.watching.signal.aborted) return;
    this.watching = new AbortController();
    const { signal } = this.watching;
    void this.watch('inbox', () => readInbox(client), signal);
    void this.watch('agents', () => openAgents(client), signal);
  }

  private async watch<Name extends 'inbox' | 'agents'>(
    name: Name,
    read: () => Promise<NonNullable<OverviewFeed['known'][Name]>>,
    signal: AbortSignal,
  ): Promise<void> {
    while (!signal.aborted) {
      const began = performance.now();
      // What fails says nothing new, for example while the server is away: what was said last stays.
      const now = await read().catch(() => undefined);
      if (signal.aborted) return;
      if (now && JSON.stringify(now) !== JSON.stringify(this.known[name])) {
        this.known = { ...this.known, [name]: now };
        this.version += 1;
        this.changes.emit('change');
      }
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

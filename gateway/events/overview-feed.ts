// What waits for a person and which agents are open, watched once for all who follow it, while anybody does.
import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { AgentEntry } from '../../client/agents/agent-directory';
import type { InboxItem } from '../../contracts/gateway/api';
import { mayUse, type Caller } from '../access/grants';
import type { HoldfastClient } from '../../client/holdfast-client';
import { readInbox } from '../inbox/read-inbox';
import type { Event } from './event';

const LOOK_MS = 1_000;
const AGENTS_SHOWN = 100;

export class OverviewFeed {
  private known: { inbox?: InboxItem[] | undefined; agents?: AgentEntry[] | undefined } = {};
  private version = 0;
  private followers = 0;
  private watching: AbortController | undefined;
  private readonly changes = new EventEmitter().setMaxListeners(0);

  async *follow(client: HoldfastClient, caller: Caller, signal: AbortSignal): AsyncGenerator<Event, void> {
    this.followers += 1;
    this.start(client);
    const mine = (agent: string): boolean => mayUse(caller, agent);
    const told: Record<string, string> = {};
    try {
      while (!signal.aborted) {
        const { version, known } = this;
        for (const event of [
          { event: 'inbox', data: { items: known.inbox?.filter(({ agent }) => mine(agent)) } },
          { event: 'agents', data: { items: known.agents?.filter(({ id }) => mine(id)) } },
        ]) {
          const text = JSON.stringify(event.data);
          if (event.data.items === undefined || told[event.event] === text) continue;
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
    void this.watch(client, this.watching.signal);
  }

  private async watch(client: HoldfastClient, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // What fails says nothing new, for example while the server is away: what was said last stays. The other is told.
      const [inbox, page] = await Promise.allSettled([
        readInbox(client),
        client.agents.page({ limit: AGENTS_SHOWN }),
      ]);
      const now = {
        inbox: inbox.status === 'fulfilled' ? inbox.value : this.known.inbox,
        agents: page.status === 'fulfilled' ? page.value.items : this.known.agents,
      };
      if (JSON.stringify(now) !== JSON.stringify(this.known)) {
        this.known = now;
        this.version += 1;
        this.changes.emit('change');
      }
      await delay(LOOK_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}

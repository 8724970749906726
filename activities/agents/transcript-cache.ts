// Messages that this worker has seen, so that a model call fetches only the new ones. Keyed by run: within one, a
// transcript only grows.
import type { HoldfastClient } from '../../client/holdfast-client';
import type { Message, TranscriptPage } from '../../contracts/agents/agent';
import { AGENT_MESSAGES } from '../../contracts/messages';

const MAX_ENTRIES = 200;
const PAGE_MESSAGES = 200;

export class TranscriptCache {
  private readonly entries = new Map<string, Message[]>();

  constructor(private readonly client: HoldfastClient) {}

  /** The first `count` messages of a run of a turn or an agent. */
  async read(of: { workflowId: string; runId: string; count: number }): Promise<Message[]> {
    const { workflowId, runId, count } = of;
    if (count === 0) return [];
    const messages = this.entries.get(runId) ?? [];
    // Most recently used last: the first entry is the one to drop.
    this.entries.delete(runId);
    this.entries.set(runId, messages);
    const oldest = this.entries.keys().next().value;
    if (this.entries.size > MAX_ENTRIES && oldest !== undefined) this.entries.delete(oldest);
    const handle = this.client.temporal.workflow.getHandle(workflowId, runId);
    while (messages.length < count) {
      const from = messages.length;
      const limit = Math.min(count - from, PAGE_MESSAGES);
      const page = await handle.query<TranscriptPage, [object]>(AGENT_MESSAGES.transcript, { from, limit });
      if (page.messages.length === 0)
        throw new Error(`transcript of ${workflowId} ends at ${from}, expected ${count}`);
      // Two calls may have requested the same page: append only what follows.
      if (messages.length === from) messages.push(...page.messages);
    }
    return messages.slice(0, count);
  }
}

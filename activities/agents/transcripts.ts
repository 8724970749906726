// The messages that model calls read. The workflows that this worker runs hand them over as they record them; those of
// others, and what was dropped meanwhile, are asked for by query. Keyed by run: within one, a transcript only grows.
import type { InjectedSinks } from '@temporalio/worker';
import { sendQuery } from '../../client/delivery/send-message';
import type { HoldfastClient } from '../../client/holdfast-client';
import type { Message } from '../../contracts/agents/agent';
import type { MessagesOfRun } from '../../contracts/agents/messages-of-run';
import { RECORDED_MESSAGES, type RecordedMessagesSinks } from '../../contracts/agents/recorded-messages';
import { AGENT_MESSAGES } from '../../contracts/messages/to-agents';
import { messageBytes } from '../../contracts/payload-size';

/** Of all runs together, as JSON. Beyond this, the runs that were not used for longest are dropped. */
const MAX_BYTES = 64 * 1024 * 1024;
/** What an empty copy takes. */
const COPY_BYTES = 1_000;
const PAGE_MESSAGES = 200;

class Copy {
  readonly messages: Message[] = [];
  /** Bytes up to and including each message. */
  private readonly ends: number[] = [];

  get bytes(): number {
    return this.ends.at(-1) ?? 0;
  }

  add(messages: readonly Message[], sizes: readonly number[] = messages.map(messageBytes)): void {
    this.messages.push(...messages);
    for (const size of sizes) this.ends.push(this.bytes + size);
  }

  /** Whether its first `count` messages are those, as far as it has them. */
  agrees({ count, bytes }: Pick<MessagesOfRun, 'count' | 'bytes'>): boolean {
    const known = count === 0 ? 0 : this.ends[count - 1];
    return known === undefined || known === bytes;
  }

  keep(count: number): void {
    this.messages.length = Math.min(count, this.messages.length);
    this.ends.length = this.messages.length;
  }
}

export class Transcripts {
  private readonly copies = new Map<string, Copy>();
  private bytes = 0;

  constructor(private readonly client: HoldfastClient) {}

  /** For the worker that runs the workflows. */
  get sinks(): InjectedSinks<RecordedMessagesSinks> {
    return {
      [RECORDED_MESSAGES]: {
        add: {
          fn: ({ runId }, ...added) => this.recorded(runId, ...added),
          callDuringReplay: false,
        },
        end: { fn: ({ runId }) => this.ended(runId), callDuringReplay: false },
      },
    };
  }

  /**
   * Messages that a run has recorded. A workflow task that failed is run again, here or elsewhere, and may record others
   * at the same place: the last ones count, and a copy whose beginning differs is dropped.
   */
  recorded(
    runId: string,
    from: { count: number; bytes: number },
    messages: readonly Message[],
    sizes?: readonly number[],
  ): void {
    const copy = this.copyOf(runId);
    this.change(runId, copy, () => {
      copy.keep(copy.agrees(from) ? from.count : 0);
      // What lies between was recorded elsewhere: it is asked for when a call needs it.
      if (copy.messages.length === from.count) copy.add(messages, sizes);
    });
  }

  /** Its messages are not asked for again. */
  ended(runId: string): void {
    const copy = this.copies.get(runId);
    if (copy) this.drop(runId, copy);
  }

  /** The first messages of a run of a turn or an agent. */
  async read(of: MessagesOfRun): Promise<Message[]> {
    const { runId, count } = of;
    if (count === 0) return [];
    const copy = this.copyOf(runId);
    await this.fill(copy, of);
    if (!copy.agrees(of)) {
      // It began here, and went on otherwise elsewhere.
      this.change(runId, copy, () => copy.keep(0));
      await this.fill(copy, of);
    }
    return copy.messages.slice(0, count);
  }

  private async fill(copy: Copy, { workflowId, runId, count }: MessagesOfRun): Promise<void> {
    const handle = this.client.temporal.workflow.getHandle(workflowId, runId);
    while (copy.messages.length < count) {
      const from = copy.messages.length;
      const limit = Math.min(count - from, PAGE_MESSAGES);
      const page = await sendQuery(handle, AGENT_MESSAGES.transcript, { from, limit });
      if (page.messages.length === 0)
        throw new Error(`transcript of ${workflowId} ends at ${from}, expected ${count}`);
      // Two calls may have requested the same page: append only what follows.
      if (copy.messages.length === from) this.change(runId, copy, () => copy.add(page.messages));
    }
  }

  /** Most recently used last: the first one is the one to drop. */
  private copyOf(runId: string): Copy {
    const known = this.copies.get(runId);
    const copy = known ?? new Copy();
    if (!known) this.bytes += COPY_BYTES;
    this.copies.delete(runId);
    this.copies.set(runId, copy);
    return copy;
  }

  private change(runId: string, copy: Copy, work: () => void): void {
    const before = copy.bytes;
    work();
    // It may have been dropped while its next page was awaited.
    if (this.copies.get(runId) === copy) this.bytes += copy.bytes - before;
    for (const [oldest, unused] of this.copies) {
      if (this.bytes <= MAX_BYTES || oldest === runId) return;
      this.drop(oldest, unused);
    }
  }

  private drop(runId: string, { bytes }: Copy): void {
    this.copies.delete(runId);
    this.bytes -= bytes + COPY_BYTES;
  }
}

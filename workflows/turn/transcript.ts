// The messages of an agent or a turn, and their size in bytes, which limits pages and turns.
import type { Message, TranscriptPage, TranscriptRequest } from '../../contracts/agents/agent';
import { messageBytes, MAX_TRANSCRIPT_PAGE_BYTES } from '../../contracts/payload-size';
import type { RECORDED_MESSAGES, RecordedMessagesSinks } from '../../contracts/agents/recorded-messages';

const DEFAULT_LIMIT = 100;

export class Transcript {
  readonly messages: Message[] = [];
  /** Size of all messages as JSON. */
  bytes = 0;
  private readonly sizes: number[] = [];

  /** @param onAdded hears of each addition, and of what was there before it */
  constructor(private readonly onAdded: RecordedMessagesSinks[typeof RECORDED_MESSAGES]['add']) {}

  /** What identifies its messages in the run that holds them. */
  get extent(): { count: number; bytes: number } {
    return { count: this.messages.length, bytes: this.bytes };
  }

  push(...messages: Message[]): void {
    if (messages.length === 0) return;
    const sizes = messages.map(messageBytes);
    this.onAdded(this.extent, messages, sizes);
    this.messages.push(...messages);
    this.sizes.push(...sizes);
    for (const size of sizes) this.bytes += size;
  }

  /**
   * A page: at most `limit` messages, and no more than fit; at least one if there are any. Out-of-range
   * values give an empty page: a query must not throw.
   */
  page(request: TranscriptRequest | undefined): TranscriptPage {
    const from = Math.max(0, Math.trunc(Number(request?.from)) || 0);
    const limit = Math.max(1, Math.trunc(Number(request?.limit)) || DEFAULT_LIMIT);
    const last = Math.min(from + limit, this.messages.length);
    let end = from;
    for (let bytes = 0; end < last; end++) {
      bytes += this.sizes[end] ?? 0;
      if (bytes > MAX_TRANSCRIPT_PAGE_BYTES && end > from) break;
    }
    return { messages: this.messages.slice(from, end), total: this.messages.length };
  }
}

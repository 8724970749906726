// The messages that an agent has accepted and not begun, in the order in which it takes them.
import type { SendRequest } from '../../../contracts/schemas/agent';
import type { AgentResult } from '../../../contracts/agents/agent';
import type { ConversationRecord } from './conversation-record';

/** Gets the result of the message's turn. */
export type Done = (result: AgentResult) => void;

interface Queued {
  message: string;
  /** Goes before messages that are not urgent. */
  isUrgent?: boolean;
  done?: Done;
}

export class MessageQueue {
  private readonly queued: Queued[];

  /** @param urgent how many of them interrupt: the first */
  constructor(messages: readonly string[], urgent = 0) {
    this.queued = messages.map((message, place) => ({ message, isUrgent: place < urgent }));
  }

  get length(): number {
    return this.queued.length;
  }

  /** Whether the caller of one of them waits for its result. */
  get isAwaited(): boolean {
    return this.queued.some(({ done }) => done);
  }

  /** What the next run needs. */
  get record(): Pick<ConversationRecord, 'queue' | 'urgent'> {
    const urgent = this.queued.filter(({ isUrgent }) => isUrgent).length;
    return { queue: this.queued.map(({ message }) => message), ...(urgent > 0 && { urgent }) };
  }

  add({ message, mode }: SendRequest, done?: Done): void {
    const isUrgent = mode === 'interrupt';
    const place = isUrgent ? this.queued.findIndex((other) => !other.isUrgent) : -1;
    // After messages that interrupted before it.
    const at = place < 0 ? this.queued.length : place;
    this.queued.splice(at, 0, { message, isUrgent, ...(done && { done }) });
  }

  next(): Queued | undefined {
    return this.queued.shift();
  }

  /** Answers all callers: their messages will not be taken. */
  answerAll(result: AgentResult): void {
    for (const { done } of this.queued) done?.(result);
  }
}

// The messages that an agent has accepted and not begun, in the order in which it takes them.
import type { AgentResult, SendRequest } from '../../../contracts/agents/agent';

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

  constructor(messages: readonly string[]) {
    this.queued = messages.map((message) => ({ message }));
  }

  get length(): number {
    return this.queued.length;
  }

  /** Whether the caller of one of them waits for its result. */
  get isAwaited(): boolean {
    return this.queued.some(({ done }) => done);
  }

  /** What the next run needs. */
  get record(): string[] {
    return this.queued.map(({ message }) => message);
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

  /** Tells the callers that none of them will be taken. */
  answerAll(result: AgentResult): void {
    for (const { done } of this.queued) done?.(result);
  }
}

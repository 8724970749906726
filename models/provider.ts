// The port to a model: messages in, the raw text of a reply out. What the text means is the dialect's.
import type { Message } from '../contracts/agent';

export interface ModelRequest {
  /** Tells the model what it is, which tools it has and how to call them. */
  system: string;
  /** The whole conversation so far; the last one is what the model answers to. */
  messages: Message[];
  signal: AbortSignal;
}

export interface ModelProvider {
  /** Finds faults of the configuration before anything is started. Throws HoldfastError. */
  check?(): Promise<void>;
  /**
   * Asks for one reply. Repeatable: a call that died with its worker is made again.
   * Throws HoldfastError `model_*`, retryable or not as the catalogue says.
   */
  reply(request: ModelRequest): Promise<{ text: string }>;
}

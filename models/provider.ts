// The port to a model: a rendered conversation in, the raw reply out. What the reply means is the dialect's.
import type { DialectName, Usage } from '../contracts/agent';
import type { JsonSchema, ToolDescription } from '../contracts/tools';

/** A call of a provider's own function calling, as the model wrote it. */
export interface NativeCall {
  /** The provider's. */
  id: string;
  tool: string;
  /** JSON, which may be invalid. */
  args: string;
}

/** A message as providers take it; `calls` and the role `tool` only where the dialect is `native`. */
export type ChatMessage =
  | { role: 'user'; text: string }
  | { role: 'assistant'; text: string; calls?: NativeCall[] }
  | { role: 'tool'; callId: string; tool: string; text: string; isError: boolean };

export interface ModelRequest {
  /** Tells the model what it is, which tools it has and how to call them. */
  system: string;
  /** The whole conversation so far; the last one is what the model answers to. */
  messages: ChatMessage[];
  /** For the provider's own function calling; absent in the other dialects. */
  tools?: readonly ToolDescription[];
  /** What the answer must match, for providers that can see to it. */
  outputSchema?: JsonSchema;
  signal: AbortSignal;
  /** Called with each piece of the reply's text as it comes; present only while somebody watches. */
  onText?: (piece: string) => void;
}

export interface RawReply {
  text: string;
  /** Calls of the provider's own function calling. */
  calls?: NativeCall[];
  /** The provider cut it off at its length limit. */
  isCut?: boolean;
  usage?: Usage;
}

export interface ModelProvider {
  /** For agents that name none. Default `agent-json`. */
  dialect?: DialectName;
  /** Tokens that the model reads at the most, where that is known. */
  window?: number;
  /** Finds faults of the configuration before anything is started. Throws HoldfastError. */
  check?(): Promise<void>;
  /**
   * Asks for one reply. Repeatable: a call that died with its worker is made again.
   * Throws HoldfastError `model_*`, retryable or not as the catalogue says.
   */
  reply(request: ModelRequest): Promise<RawReply>;
}

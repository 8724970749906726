// The port to a model: a rendered conversation in, the raw reply out. The dialect interprets the reply.
import type { DialectName } from '../contracts/models/dialect-names';
import type { Usage } from '../contracts/agents/agent';
import type { ImageRef } from '../contracts/tools/images';
import type { JsonSchema, ToolDescription } from '../contracts/tools/tools';

/** A call through the provider's own function calling, as the model wrote it. */
export interface NativeCall {
  /** The provider's id. */
  id: string;
  tool: string;
  /** JSON, which may be invalid. */
  args: string;
}

/**
 * A message as providers accept it; `calls` and the role `tool` occur only in the dialect `native`. `extras` are those of
 * the same provider's reply.
 */
export type ChatMessage =
  | { role: 'user'; text: string; images?: ImageRef[] }
  | { role: 'assistant'; text: string; calls?: NativeCall[]; extras?: Readonly<Record<string, unknown>> }
  | { role: 'tool'; callId: string; tool: string; text: string; isError: boolean; images?: ImageRef[] };

export interface ModelRequest {
  /** Describes to the model what it is, which tools it has and how to call them. */
  system: string;
  /** The whole conversation so far; the model answers the last message. */
  messages: ChatMessage[];
  /** For the provider's own function calling; absent in the other dialects. */
  tools?: readonly ToolDescription[];
  /** What the answer must match, for providers that can enforce it. */
  outputSchema?: JsonSchema;
  /** The images of the messages in base64, by hash; absent if there are none, or the model cannot see. */
  images?: ReadonlyMap<string, string>;
  signal: AbortSignal;
  /** Called with each piece of the reply's text as it arrives; present only while someone is watching. */
  onText?: (piece: string) => void;
  /** Called with what operators should know of the request, such as tools that the provider does not take. */
  onRemark?: (remark: string) => void;
}

export interface RawReply {
  text: string;
  /** Calls through the provider's own function calling. */
  calls?: NativeCall[];
  /** The provider cut it off at its length limit. */
  isCut?: boolean;
  /** The reason that it gave for that, if it was not the limit. */
  cutBy?: string;
  /** The model, or its provider, refused to answer; the text says so. */
  isRefusal?: boolean;
  usage?: Usage;
  /**
   * JSON of the provider's own, such as the signature of a model's reasoning. It comes back with the message, as long as
   * the conversation's model is of the same provider.
   */
  extras?: Readonly<Record<string, unknown>>;
}

export interface ModelProvider {
  /** The dialect for agents that name none. Default `agent-json`. */
  dialect?: DialectName;
  /** The most tokens that the model can read, if known. */
  window?: number;
  /** Whether it takes the images of a request, in the dialect `native`. Default: they are described to it in words. */
  seesImages?: boolean;
  /** Checks the configuration before anything is started. Throws HoldfastError. */
  check?(): Promise<void>;
  /**
   * Asks for one reply. Safe to repeat: a call that died with its worker is made again.
   * Throws HoldfastError `model_*`; the catalogue says which are retryable.
   */
  reply(request: ModelRequest): Promise<RawReply>;
}

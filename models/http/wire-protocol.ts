// What a wire protocol of a provider is: one request, and its reply. Types only.
import type { ModelRequest, RawReply } from '../provider';
import type { Access } from './access';
import type { CallLimits } from './call-limits';
import type { Tokens } from './cost';
import type { Fields } from './replies/untrusted';

export interface WireCall extends ModelRequest {
  /** The provider's name for the model. */
  name: string;
  access: Access;
  fetch: CallLimits['fetch'];
  /** Whether the stream ended within an event. */
  isCut: CallLimits['isCut'];
  requestMs: number;
  maxOutputTokens: number | undefined;
  /** Whether the last stream ended with the words that it was all. */
  isDone: CallLimits['isDone'];
  /** Parts of requests that the server refused, by model; the same set for all calls of a process. */
  refused: Set<string>;
}

export type WireReply = Omit<RawReply, 'usage' | 'extras'> & {
  tokens?: Tokens | undefined;
  extras?: Fields | undefined;
};

/** Asks once. Throws the SDK's errors. */
export type WireProtocol = (call: WireCall) => Promise<WireReply>;

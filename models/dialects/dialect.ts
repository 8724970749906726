// The port to a dialect: how a model's reply says "call these tools", and how results go back. Pure.
import type { ParsedReply, VisibleMessage } from '../../contracts/agents/agent';
import type { ToolDescription } from '../../contracts/tools/tools';
import type { ChatMessage, RawReply } from '../provider';

export interface Dialect {
  /** Reads a reply. Never throws; an unusable reply is `malformed`: it is neither run nor an answer. */
  parse(reply: RawReply): ParsedReply;
  /** The part of the system prompt that teaches the format and the tools. */
  instructions(tools: readonly ToolDescription[]): string;
  /** The conversation in the form that the provider accepts. */
  messages(messages: readonly VisibleMessage[]): ChatMessage[];
  /** How a call is written, as a sentence for a model that wrote one in another way. */
  callRule: string;
  /** Whether the provider itself gets the tools. */
  isNative?: boolean;
}

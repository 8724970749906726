// The port to a dialect: how a model's reply says "call these tools", and how results go back. Pure.
import type { Message, ParsedReply } from '../../contracts/agent';
import type { ToolDescription } from '../../contracts/tools';
import type { ChatMessage, RawReply } from '../provider';

export interface Dialect {
  /** Reads a reply. Never throws; what cannot be used is `malformed` and is never run nor an answer. */
  parse(reply: RawReply): ParsedReply;
  /** The part of the system prompt that teaches the format and the tools. */
  instructions(tools: readonly ToolDescription[]): string;
  /** The conversation as the provider takes it. */
  messages(messages: readonly Message[]): ChatMessage[];
  /** Whether the provider itself is told of the tools. */
  isNative?: boolean;
}

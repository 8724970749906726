// The port to a dialect: how a model's reply says "call these tools". Pure.
import type { ParsedReply } from '../../contracts/agent';

export interface ToolDescription {
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  parameters: object;
}

export interface Dialect {
  /** Reads a reply. Never throws; what cannot be used is `malformed` and is never run nor an answer. */
  parse(text: string): ParsedReply;
  /** The part of the system prompt that teaches the format and the tools. */
  instructions(tools: readonly ToolDescription[]): string;
}

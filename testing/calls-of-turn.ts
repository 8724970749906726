// The tool calls of a turn: from its messages, in the order in which the model made them.
import type { TurnResult } from '../contracts/agents/agent';

export interface ToolCallRecord {
  tool: string;
  args: Record<string, unknown>;
  /** The result that the model read; null if the turn ended before the call did. */
  content: string | null;
  /** True if the model learned what to correct. */
  isError: boolean;
}

/** The calls of a turn; parallel ones in the order of the request. */
export function toolCallsOf({ messages }: Pick<TurnResult, 'messages'>): ToolCallRecord[] {
  return messages.flatMap((message, index) => {
    if (message.role !== 'assistant' || message.parsed.kind !== 'calls') return [];
    return message.parsed.calls.map(({ callId, tool, args }): ToolCallRecord => {
      // Ids start over with each reply: its results are those before the next one.
      for (const later of messages.slice(index + 1)) {
        if (later.role !== 'tool') break;
        if (later.callId === callId) return { tool, args, content: later.content, isError: later.isError };
      }
      return { tool, args, content: null, isError: false };
    });
  });
}

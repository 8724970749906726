// What tools a turn called: out of its messages, in the order in which the model asked for them.
import type { TurnResult } from '../contracts/agent';

export interface ToolCallRecord {
  tool: string;
  args: Record<string, unknown>;
  /** What the model read of it; null when the turn ended before the call did. */
  content: string | null;
  /** True when the model was told what to mend. */
  isError: boolean;
}

/** The calls of a turn, of parallel ones first the one that was asked for first. */
export function toolCallsOf({ messages }: Pick<TurnResult, 'messages'>): ToolCallRecord[] {
  return messages.flatMap((message, index) => {
    if (message.role !== 'assistant' || message.parsed.kind !== 'calls') return [];
    return message.parsed.calls.map(({ callId, tool, args }): ToolCallRecord => {
      // Ids count anew with each reply: its results are those before the next one.
      for (const later of messages.slice(index + 1)) {
        if (later.role !== 'tool') break;
        if (later.callId === callId) return { tool, args, content: later.content, isError: later.isError };
      }
      return { tool, args, content: null, isError: false };
    });
  });
}

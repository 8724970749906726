// Providers refuse a conversation in which a call has no result or a result no call. Interrupted turns and summaries
// leave such calls and results. Pure.
import type { ChatMessage } from '../../provider';

type ToolMessage = Extract<ChatMessage, { role: 'tool' }>;

const NO_RESULT = 'No result was recorded: the turn ended first. It is unknown whether the call took effect.';

/** The conversation with a result after each call, and without results of missing calls. */
export function withAnswers(messages: readonly ChatMessage[]): ChatMessage[] {
  const paired: ChatMessage[] = [];
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at];
    if (!message || message.role === 'tool') continue;
    paired.push(message);
    if (message.role !== 'assistant' || !message.calls?.length) continue;
    const results = resultsBehind(messages, at);
    paired.push(...message.calls.map((call) => results.get(call.id) ?? missing(call.id, call.tool)));
  }
  return paired;
}

function resultsBehind(messages: readonly ChatMessage[], from: number): Map<string, ToolMessage> {
  const found = new Map<string, ToolMessage>();
  for (const message of messages.slice(from + 1)) {
    if (message.role === 'assistant') break;
    if (message.role === 'tool') found.set(message.callId, message);
  }
  return found;
}

const missing = (callId: string, tool: string): ToolMessage => ({
  role: 'tool',
  callId,
  tool,
  text: NO_RESULT,
  isError: true,
});

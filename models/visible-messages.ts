// What a model sees of a conversation: behind its last summary only what the summary does not cover. Pure.
import type { Message } from '../contracts/agent';

export function visibleMessages(messages: readonly Message[]): Message[] {
  const summary = messages.findLast((message) => message.role === 'summary');
  if (summary?.role !== 'summary') return [...messages];
  const rest = messages.slice(summary.covers).filter((message) => message.role !== 'summary');
  return [summary, ...rest];
}

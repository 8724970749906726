// What a model sees of a conversation: the last summary, the messages that it does not cover, and the files that stay
// in view. Pure.
import type { Message } from './agent';

export function visibleMessages(messages: readonly Message[]): Message[] {
  const summary = messages.findLast((message) => message.role === 'summary');
  if (summary?.role !== 'summary') return [...messages];
  const context = messages.slice(0, summary.covers).filter(({ role }) => role === 'context');
  const rest = messages.slice(summary.covers).filter(({ role }) => role !== 'summary');
  return [...context, summary, ...rest];
}

/** The same for a conversation that starts with these messages: a summary then covers only the files before it. */
export const carriedMessages = (messages: readonly Message[]): Message[] =>
  visibleMessages(messages).map((message, place) =>
    message.role === 'summary' ? { ...message, covers: place } : message,
  );

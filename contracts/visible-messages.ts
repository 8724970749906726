// What a model sees of a conversation: behind its last summary only what that does not cover, and the files that are
// to stay in view. Pure.
import type { Message } from './agent';

export function visibleMessages(messages: readonly Message[]): Message[] {
  const summary = messages.findLast((message) => message.role === 'summary');
  if (summary?.role !== 'summary') return [...messages];
  const context = messages.slice(0, summary.covers).filter(({ role }) => role === 'context');
  const rest = messages.slice(summary.covers).filter(({ role }) => role !== 'summary');
  return [...context, summary, ...rest];
}

/** The same in a conversation that begins with them: there a summary covers what stands before it, the files alone. */
export const carriedMessages = (messages: readonly Message[]): Message[] =>
  visibleMessages(messages).map((message, place) =>
    message.role === 'summary' ? { ...message, covers: place } : message,
  );

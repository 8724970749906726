// What a turn says to its model, and what it takes of what the model has said. Pure.
import type { Message } from '../contracts/agent';

/** Of a reply that could not be used. */
export const repairText = (problem: string, left: number): string =>
  `Your reply could not be used: ${problem} Nothing was run. ` +
  `Send the corrected reply; ${left === 0 ? 'this is the last attempt' : `${left} further attempts are left`}.`;

/** What there is of an answer when a turn ends without one. */
export function lastProse(messages: Message[]): string | null {
  for (const message of messages.toReversed()) {
    if (message.role === 'assistant' && message.parsed.kind === 'calls' && message.parsed.prose) {
      return message.parsed.prose;
    }
  }
  return null;
}

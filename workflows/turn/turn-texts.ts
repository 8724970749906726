// What a turn says to its model, and what it takes from the model's replies. Pure.
import type { Message } from '../../contracts/agents/agent';

/** The message about a reply that could not be used. */
export const repairText = (problem: string, left: number): string =>
  `Your reply could not be used: ${problem} Nothing was run. ` +
  `Send the corrected reply; ${left === 0 ? 'this is the last attempt' : `${left} attempts are left`}.`;

/** The best partial answer when a turn ends without one. */
export function lastProse(messages: Message[]): string | null {
  for (const message of messages.toReversed()) {
    if (message.role === 'assistant' && message.parsed.kind === 'calls' && message.parsed.prose) {
      return message.parsed.prose;
    }
  }
  return null;
}

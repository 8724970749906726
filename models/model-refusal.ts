// A refusal is returned as the answer, so that the user reads it.
import type { ParsedReply } from '../contracts/agents/agent';
import { withoutThinking } from './dialects/thinking';
import type { RawReply } from './provider';

/** The model's own words, or a sentence if it gave none. */
export const refusal = (text: string, reason: string): Pick<RawReply, 'text' | 'isRefusal'> => ({
  text: text.trim() || `The model refused to answer (${reason}).`,
  isRefusal: true,
});

/** What a refusal ends the turn with: it keeps to no format and no schema, and what it breaks off is no call. */
export const refusedAnswer = ({ text }: RawReply): ParsedReply => ({
  kind: 'answer',
  answer: withoutThinking(text) || 'The model refused to answer.',
});

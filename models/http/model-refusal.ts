// A refusal is returned as the answer, so that the user reads it.

import type { RawReply } from '../provider';

/** The model's own words, or a sentence if it gave none. */
export const refusal = (text: string, reason: string): Pick<RawReply, 'text' | 'isRefusal'> => ({
  text: text.trim() || `The model refused to answer (${reason}).`,
  isRefusal: true,
});

// A refusal is returned as the answer, so that the user reads it.

/** The model's own words, or a sentence if it gave none. */
export const refusal = (text: string, reason: string): string =>
  text.trim() || `The model refused to answer (${reason}).`;

// How a refusal is told: as the answer, so that whoever asked reads it.

/** The model's own words, or a sentence where it has none. */
export const refusal = (text: string, reason: string): string =>
  text.trim() || `The model refused to answer (${reason}).`;

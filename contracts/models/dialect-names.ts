// The dialects by name.
/** How a model's reply says "call these tools". */
export const DIALECTS = ['agent-json', 'tagged', 'native'] as const;
export type DialectName = (typeof DIALECTS)[number];

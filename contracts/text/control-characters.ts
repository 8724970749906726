// C1 controls in UTF-8 text. Terminals in UTF-8 mode obey them only in their form with ESC: a U+009D is mostly half of a
// letter that was encoded twice, and would swallow all text up to an end that never comes. Pure.

const C1 = /[\x80-\x9f]/g;

/** The text with a replacement character for each. */
export const withoutC1 = (text: string): string => text.replace(C1, '\uFFFD');

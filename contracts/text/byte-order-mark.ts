// The mark at the beginning of a text file (U+FEFF), which comes along when its content is copied. Pure.

/** The text alone: no interpreter takes the mark for code. */
export const withoutByteOrderMark = (text: string): string =>
  text.startsWith('\uFEFF') ? text.slice(1) : text;

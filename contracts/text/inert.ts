// Makes foreign text inert: characters that a terminal obeys, or that people cannot see or see reordered, are written
// out as escapes. For all text that people read and that comes from a model, a program, a server or another host. Pure.

/**
 * By Unicode property: controls, format characters (direction marks, zero widths, tags), line and paragraph separators,
 * lone surrogates, and characters that fonts draw as nothing (Default_Ignorable_Code_Point: fillers, variation
 * selectors). Exceptions: tab and line feed; the two emoji selectors, U+FE0E and U+FE0F; visible format characters,
 * such as U+0600, the Arabic number sign.
 */
const ACTIVE =
  /(?![\ufe0e\ufe0f\t\n\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;
/** Characters that reorder the text around them, or break a line where other programs see none. */
const REORDERING = /[\u061c\u2028-\u202e\u2066-\u2069]/g;
const LINE_BREAK = /[\n\t]/g;

const written = (char: string): string => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`;

/** For JSON: the result is JSON with the same value. */
export const escapeActive = (json: string): string =>
  json.replace(ACTIVE, (char) =>
    Array.from(
      { length: char.length },
      (_, at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
  );

/** For several lines: writes `\u{202e}` in place of the character. Windows line endings become `\n`. */
export const inertText = (text: string): string => text.replaceAll('\r\n', '\n').replace(ACTIVE, written);

/** For one line: line ends and tabs are written out, too. */
export const inertLine = (text: string): string =>
  inertText(text).replace(LINE_BREAK, (char) => (char === '\n' ? '\\n' : '\\t'));

/** For text that keeps other scripts and emoji, including joiners: only what reorders it is written out. */
export const inOrder = (text: string): string => text.replace(REORDERING, written);

/** For a label: a space replaces line ends, tabs and everything that the others write out. */
export const withoutActive = (text: string): string => text.replace(ACTIVE, ' ').replace(LINE_BREAK, ' ');

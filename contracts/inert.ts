// Makes foreign text inert: what a terminal would obey, and what a person cannot see or sees in another order, is
// written out. For everything that people read and that a model, a program, a server or another host has said. Pure.

/**
 * By property of Unicode: controls, format characters (marks of direction, zero widths, tags), separators of lines and
 * paragraphs, lone surrogates, and what fonts draw as nothing (Default_Ignorable_Code_Point: fillers, selectors of
 * variants). What is left out: tab and line feed; the two selectors of emoji, U+FE0E and U+FE0F; format characters that
 * are seen, such as U+0600, the Arabic number sign.
 */
const ACTIVE =
  /(?![\ufe0e\ufe0f\t\n\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;
/** What shows the characters around it in another order, or breaks a line where other programs see none. */
const REORDERING = /[\u061c\u2028-\u202e\u2066-\u2069]/g;
const LINE_BREAK = /[\n\t]/g;

const written = (char: string): string => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`;

/** Of JSON, which stays JSON of the same value. */
export const escapeActive = (json: string): string =>
  json.replace(ACTIVE, (char) =>
    Array.from(
      { length: char.length },
      (_, at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
  );

/** Of several lines: `\u{202e}` in place of the character. Line ends of Windows become line ends. */
export const inertText = (text: string): string => text.replaceAll('\r\n', '\n').replace(ACTIVE, written);

/** Of one line: line ends and tabs are written out, too. */
export const inertLine = (text: string): string =>
  inertText(text).replace(LINE_BREAK, (char) => (char === '\n' ? '\\n' : '\\t'));

/** Of text that other scripts and emoji stay as they are in, joiners included: only what reorders it is written out. */
export const inOrder = (text: string): string => text.replace(REORDERING, written);

/** Of a label: a blank in place of line ends, tabs, and whatever else is written out elsewhere. */
export const withoutActive = (text: string): string => text.replace(ACTIVE, ' ').replace(LINE_BREAK, ' ');

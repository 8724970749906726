// Makes foreign text inert: what a terminal would obey, and what a person cannot see or sees in another order, is
// written out. For everything that people read and that a model, a program, a server or another host has said. Pure.

/* eslint-disable no-control-regex -- control characters are the point */
/**
 * Controls but tab and line feed; DEL and C1; Arabic letter mark, Hangul fillers, zero-width characters and marks of
 * direction; line and paragraph separators; what turns the direction of a text; word joiner and invisible operators;
 * byte order mark, interlinear annotation; tag characters, variation selectors 17 and above; lone surrogates.
 */
const ACTIVE =
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}\p{Cs}]/gu;
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

// Untrusted text as lines that fit a part of the screen: no colour, nothing that moves the cursor.
import { inert } from '../terminal/inert-text';

/** Characters that most terminals draw two columns wide (Unicode TR 11: wide and fullwidth), and emoji. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|[\u{20000}-\u{3fffd}]/u;
const NO_WIDTH = /\p{Mn}|\p{Me}|\p{Cf}/u;

/** No tabs: their width depends on their position. */
export const plainText = (text: string): string => inert(text).replaceAll('\t', '  ');

export const widthOf = (text: string): number =>
  [...text].reduce((sum, char) => sum + (NO_WIDTH.test(char) ? 0 : WIDE.test(char) ? 2 : 1), 0);

export const wrapped = (text: string, columns: number): string[] =>
  text
    .trimEnd()
    .split('\n')
    .flatMap((line) => wrapLine(line, Math.max(2, columns)));

/**
 * A shell's command, broken between its words so that a copy of the lines is the same command. A word that is longer than
 * a line is left to the terminal, which knows that it goes on.
 */
export function commandLines(command: string, columns: number): string[] {
  const [first = '', ...words] = command.match(/(?:'[^']*'|\\.|[^\s'\\])+/g) ?? [];
  const lines: string[] = [];
  let at = `  ${first}`;
  for (const word of words) {
    if (widthOf(`${at} ${word} \\`) <= columns) at += ` ${word}`;
    else {
      lines.push(`${at} \\`);
      at = `    ${word}`;
    }
  }
  return [...lines, at];
}

/** The beginning of a line; a cut is marked. */
export function cut(text: string, columns: number): string {
  const [first = '', ...rest] = wrapLine(text, Math.max(2, columns - 1));
  return rest.length > 0 ? `${first}…` : first;
}

function wrapLine(line: string, columns: number): string[] {
  const lines: string[] = [];
  let at = '';
  let width = 0;
  for (const char of line) {
    const more = widthOf(char);
    if (width + more > columns) {
      lines.push(at);
      at = '';
      width = 0;
    }
    at += char;
    width += more;
  }
  return [...lines, at];
}

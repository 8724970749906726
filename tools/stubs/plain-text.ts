// Makes untrusted texts safe for generated code: as prose for comments and docstrings, and as quoted strings.
import { beginningOf } from '../../contracts/text/well-formed';

/** Controls, direction marks (which make code read differently from how it runs), invisible tags. */
const INVISIBLE =
  // eslint-disable-next-line no-control-regex -- these are the characters to remove
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;

/** Prose of at most `maxLength` characters, with LF as its only control; '' for anything but text. */
export function plainText(text: unknown, maxLength: number): string {
  if (typeof text !== 'string') return '';
  const whole = beginningOf(text, maxLength + 1)
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replaceAll('\t', '    ')
    .replace(INVISIBLE, '')
    .replace(/\p{Surrogate}/gu, '\ufffd')
    .replace(/[^\S\n]+$/gm, '')
    .trim();
  return text.length > maxLength ? `${beginningOf(whole, maxLength)} [...]` : whole;
}

/** A string literal that Python, JavaScript and JSON read the same way. */
export const quoted = (text: string): string =>
  JSON.stringify(text)
    .replace(/[\u2028\u2029]/g, escaped)
    .replace(INVISIBLE, escaped);

/** `\uXXXX` for each code unit. */
const escaped = (text: string): string =>
  text
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');

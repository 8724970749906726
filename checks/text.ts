// What is known about a text that a program will have at run time. Marks stand for parts that are not literal; they are
// Unicode private use characters, which `withoutMarks` removes from outside input.
import { secretNames } from '../contracts/tools/secrets';

/** Any text, possibly empty. */
export const UNKNOWN = '\uE000';
/** The home folder of the user who runs the code. */
export const HOME = '\uE001';
/** Something below the preceding path. */
export const BELOW = '\uE002';
/** Where an unquoted expansion becomes several words. */
export const SPLIT = '\uE004';
/** Data from the network. */
export const REMOTE = '\uE005';
/** A key, a password or the whole environment. */
export const SECRET = '\uE006';

/** Only the marks of longer texts are kept. */
const MAX_LENGTH = 262_144;
const QUOTED = 0xe100;
const SPECIAL = /[*?[\]{},~]/g;

/** Keeps the length, so that offsets stay valid. */
export const withoutMarks = (code: string): string => code.replace(/[\uE000-\uE1FF]/g, '?');

/** Text in quotes: the shell gives its characters no other meaning. */
export const quoted = (text: string): string =>
  text.replace(SPECIAL, (char) => String.fromCharCode(QUOTED + char.charCodeAt(0)));

/** The characters themselves. */
export const unquoted = (text: string): string =>
  text.replace(/[\uE100-\uE1FF]/g, (char) => String.fromCharCode(char.charCodeAt(0) - QUOTED));

/** Whether the whole text is known. */
export const isKnown = (text: string): boolean => !/[\uE000-\uE006]/.test(text);

export const isRemote = (text: string): boolean => text.includes(REMOTE);
/** A named secret, `{{secret:NAME}}`, becomes one once its host has filled it in. */
export const isSecret = (text: string): boolean =>
  text.includes(SECRET) || (text.includes('secret:') && secretNames(unquoted(text)).length > 0);

/** Only the origin of texts, for a result of which nothing else is known. */
export const marksOf = (...texts: string[]): string => {
  const remote = texts.some(isRemote) ? REMOTE : '';
  const secret = texts.some(isSecret) ? SECRET : '';
  return remote + secret + UNKNOWN;
};

export const bounded = (text: string): string => (text.length > MAX_LENGTH ? marksOf(text) : text);

/** Joined, or only their marks. */
export const boundedJoin = (texts: string[], gap = ''): string =>
  texts.reduce((sum, { length }) => sum + length, 0) > MAX_LENGTH ? marksOf(...texts) : texts.join(gap);

/** Of long words, only the marks once all words together are too long: many commands join them. */
export function boundedWords<T extends { text: string }>(words: T[]): T[] {
  let left = MAX_LENGTH;
  return words.map((word) => {
    left -= word.text.length;
    return left >= 0 || word.text.length < 64 ? word : { ...word, text: marksOf(word.text) };
  });
}

/** The words that result from unquoted expansion and braces. */
export function wordsOf(text: string): string[] {
  const words = text.includes(SPLIT) ? text.split(SPLIT).filter((word) => word !== '') : [text];
  return words.flatMap((word) => withBraces(word, 3));
}

/** `{a,b}` outside of quotes. */
function withBraces(word: string, depth: number): string[] {
  const hasBraces = word.includes('{') && word.length < 4_096;
  const match = depth > 0 && hasBraces ? /^([^{}]*)\{([^{}]*,[^{}]*)\}(.*)$/s.exec(word) : null;
  if (!match) return [word];
  const [, before = '', inner = '', after = ''] = match;
  return inner
    .split(',')
    .slice(0, 32)
    .flatMap((part) => withBraces(before + part + after, depth - 1));
}

const ESCAPED = '\n\t\r\x07\b\x1b\x1b\f\v';

/** `$'…'`; also the escapes of `printf` and `echo -e`. */
export const ansiText = (text: string): string =>
  text.replace(
    /\\(?:x([0-9a-fA-F]{1,2})|0?([0-7]{1,3})|([^]))/g,
    (_all, hex?: string, octal?: string, char?: string) =>
      char === undefined
        ? String.fromCharCode(hex === undefined ? parseInt(octal ?? '', 8) : parseInt(hex, 16))
        : (ESCAPED['ntrabeEfv'.indexOf(char)] ?? char),
  );

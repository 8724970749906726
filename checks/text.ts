// What is known of a text that a program will have when it runs. Marks stand for what is not written out; they are
// characters of Unicode's private use area, which `withoutMarks` keeps out of what comes from outside.
import { secretNames } from '../contracts/secrets';

/** Anything, also nothing. */
export const UNKNOWN = '\uE000';
/** The home folder of whoever runs the code. */
export const HOME = '\uE001';
/** Something that lies below what stands before it. */
export const BELOW = '\uE002';
/** Where an unquoted expansion becomes several words. */
export const SPLIT = '\uE004';
/** What the network sent. */
export const REMOTE = '\uE005';
/** A key, a password or the whole environment. */
export const SECRET = '\uE006';

/** Longer texts are known by their marks alone. */
const MAX_LENGTH = 262_144;
const QUOTED = 0xe100;
const SPECIAL = /[*?[\]{},~]/g;

/** Same length, so that places stay. */
export const withoutMarks = (code: string): string => code.replace(/[\uE000-\uE1FF]/g, '?');

/** Text in quotes: the shell gives its characters no other meaning. */
export const quoted = (text: string): string =>
  text.replace(SPECIAL, (char) => String.fromCharCode(QUOTED + char.charCodeAt(0)));

/** The characters themselves. */
export const unquoted = (text: string): string =>
  text.replace(/[\uE100-\uE1FF]/g, (char) => String.fromCharCode(char.charCodeAt(0) - QUOTED));

/** Whether all of a text is known. */
export const isKnown = (text: string): boolean => !/[\uE000-\uE006]/.test(text);

export const isRemote = (text: string): boolean => text.includes(REMOTE);
/** A secret that is named, `{{secret:NAME}}`, is one once its host has filled it in. */
export const isSecret = (text: string): boolean =>
  text.includes(SECRET) || (text.includes('secret:') && secretNames(unquoted(text)).length > 0);

/** Where something came from, when nothing else is known of it: what is made of the texts. */
export const marksOf = (...texts: string[]): string => {
  const remote = texts.some(isRemote) ? REMOTE : '';
  const secret = texts.some(isSecret) ? SECRET : '';
  return remote + secret + UNKNOWN;
};

export const bounded = (text: string): string => (text.length > MAX_LENGTH ? marksOf(text) : text);

/** The words that an unquoted expansion and braces make of one. */
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

const ESCAPES: Record<string, string> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\x07',
  b: '\b',
  e: '\x1b',
  E: '\x1b',
  f: '\f',
  v: '\v',
};

/** `$'…'`, also what `printf` and `echo -e` make of their escapes. */
export const ansiText = (text: string): string =>
  text.replace(
    /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,6})|0?([0-7]{1,3})|([^]))/g,
    (_all, ...groups: (string | undefined)[]) => {
      const [hex, short, long, octal, char = ''] = groups;
      const digits = hex ?? short ?? long;
      if (digits !== undefined) return character(parseInt(digits, 16));
      if (octal !== undefined) return character(parseInt(octal, 8));
      return ESCAPES[char] ?? char;
    },
  );

/** Never one of our marks. */
const character = (code: number): string =>
  code > 0x10ffff || (code >= 0xe000 && code <= 0xe1ff) ? '?' : String.fromCodePoint(code);

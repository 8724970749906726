// One command as the operating system would receive it, from any language.
import type { Check } from '../check-run';
import type { Place } from '../findings';
import type { Scope } from '../bash/scope';
import { unquoted } from '../text';
import { resolvePath } from '../paths';

export interface Word {
  /** With marks; shell patterns are unquoted. */
  text: string;
  place: Place;
}

export interface Command {
  check: Check;
  /** The program and its arguments. */
  words: Word[];
  stdin: string;
  /** Where `stdin` is in the code, if it is there. */
  stdinPlace: Place | null;
  scope: Scope;
  /** The whole command. */
  place: Place;
  depth: number;
  /** Whether its output or input is a network connection. */
  isConnected: boolean;
}

/** Without the program's folder; `r[m]` is a pattern that only `rm` matches. */
export const programName = (text: string): string =>
  unquoted(text.replace(/\[([^\]!^])\]/g, '$1')).replace(/^(?:.*\/)(?=[^/]+$)/, '');

/** An argument as a path relative to the command's folder. */
export const pathOf = (text: string, { scope }: Pick<Command, 'scope'>): string =>
  resolvePath(text, scope.cwd);

export interface Arguments {
  /** Letters of short options and names of long ones, without dashes. */
  flags: Set<string>;
  /** The long ones alone, as they were written: GNU programs accept any beginning that is not ambiguous. */
  long: Set<string>;
  /** Values of the options that take one, by name. */
  values: Map<string, Word[]>;
  /** Arguments that are not options. */
  rest: Word[];
}

/** Long options without a value that begin like one with a value. */
const WHOLE = new Set(['head', 'checkpoint']);

/**
 * Separates options from arguments, like getopt.
 * @param taking names of the options that take a value, short and long
 * @param stops whether options end at the first argument: the rest belongs to another program
 */
export function parseArguments(words: Word[], taking: string, stops = false): Arguments {
  const takers = new Set(taking.split(' '));
  const longTakers = [...takers].filter((name) => name.length > 1);
  const taker = (name: string): string | undefined =>
    takers.has(name) || WHOLE.has(name) || name.length < 2
      ? name
      : longTakers.find((long) => long.startsWith(name));
  const parsed: Arguments = { flags: new Set(), long: new Set(), values: new Map(), rest: [] };
  const keep = (name: string, word: Word | undefined): void => {
    const before = parsed.values.get(name);
    if (word && before) before.push(word);
    else if (word) parsed.values.set(name, [word]);
  };
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as Word;
    const text = unquoted(word.text);
    if (text === '--') {
      parsed.rest.push(...words.slice(at + 1));
      break;
    }
    if (text.startsWith('--')) {
      const [name = '', ...value] = text.slice(2).split('=');
      parsed.flags.add(name);
      parsed.long.add(name);
      const full = taker(name) ?? name;
      if (value.length > 0) keep(full, { ...word, text: word.text.slice(word.text.indexOf('=') + 1) });
      else if (takers.has(full)) keep(full, words[++at]);
    } else if (/^-./.test(text)) {
      for (let letter = 1; letter < text.length; letter++) {
        const name = text.charAt(letter);
        parsed.flags.add(name);
        if (!takers.has(name)) continue;
        if (letter + 1 < text.length) keep(name, { ...word, text: word.text.slice(letter + 1) });
        else keep(name, words[++at]);
        break;
      }
    } else if (stops) {
      parsed.rest.push(...words.slice(at));
      break;
    } else parsed.rest.push(word);
  }
  return parsed;
}

/** The beginnings of long names count as well. */
export const hasAny = ({ flags, long }: Arguments, names: string): boolean =>
  names
    .split(' ')
    .some(
      (name) =>
        flags.has(name) ||
        (name.length > 1 && [...long].some((given) => given !== '' && name.startsWith(given))),
    );

/** A table of programs, several in one row. */
export const byName = <T>(rows: [names: string, value: T][]): ReadonlyMap<string, T> =>
  new Map(rows.flatMap(([names, value]) => names.split(' ').map((name): [string, T] => [name, value])));

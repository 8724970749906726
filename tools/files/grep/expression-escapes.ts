// What a backslash means in an expression, as ripgrep reads it. Pure.

/** JavaScript's engine cannot do it, or nothing can: the message says what. */
export class UnsupportedError extends Error {}

/** A part of an expression in JavaScript's syntax, and where the pattern goes on. */
export interface Piece {
  source: string;
  end: number;
}

/** As Unicode has it, not as JavaScript: ä is part of a word, and ٣ a digit. */
const SETS: Record<string, string> = {
  w: '\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}',
  d: '\\p{Nd}',
  s: '\\p{White_Space}',
};
const WORD = `[${SETS.w}]`;
const START = `(?<!${WORD})(?=${WORD})`;
const END = `(?<=${WORD})(?!${WORD})`;
const ASSERTIONS: Record<string, string> = {
  A: '^',
  z: '$',
  B: `(?:(?<=${WORD})(?=${WORD})|(?<!${WORD})(?!${WORD}))`,
  b: `(?:${START}|${END})`,
  '<': START,
  '>': END,
  'b{start}': START,
  'b{end}': END,
  'b{start-half}': `(?<!${WORD})`,
  'b{end-half}': `(?!${WORD})`,
};
const CONTROLS: Record<string, number> = { a: 7, t: 9, n: 10, v: 11, f: 12, r: 13 };

/** A character that stands for itself, in a class and outside. */
export function literal(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return /[A-Za-z0-9_]/.test(character) || code > 0x7e
    ? character
    : `\\x${code.toString(16).padStart(2, '0')}`;
}

/** The escape at `at`, outside a class. */
export function escapeAt(pattern: string, at: number): Piece {
  const rest = pattern.slice(at + 1);
  const [assertion] = /^(?:b\{(?:start|end)(?:-half)?\}|[AzBb<>])/.exec(rest) ?? [];
  if (assertion) return { source: ASSERTIONS[assertion] ?? '', end: at + 1 + assertion.length };
  // Only JavaScript has these.
  const [reference] = /^(?:[1-9]\d*|k<\w+>)/.exec(rest) ?? [];
  if (reference) return { source: `(?:\\${reference})`, end: at + 1 + reference.length };
  const set = setAt(pattern, at);
  if (set) return { ...set, source: `[${set.source}]` };
  const { character, end } = characterAt(pattern, at);
  if (character === '\n')
    throw new UnsupportedError('each line is searched separately, so \\n matches nothing');
  return { source: literal(character), end };
}

/** An escape for many characters, as a part of a class; undefined for another one. */
export function setAt(pattern: string, at: number): Piece | undefined {
  const rest = pattern.slice(at);
  const [perl, name = ''] = /^\\([wdsWDS])/.exec(rest) ?? [];
  if (perl) {
    const set = SETS[name.toLowerCase()] ?? '';
    return { source: name in SETS ? set : `[^${set}]`, end: at + perl.length };
  }
  const [property, sign, letter, negated, long] = /^\\([pP])(?:([A-Za-z])|\{(\^?)([^}]*)\})/.exec(rest) ?? [];
  if (!property) return undefined;
  const is = (sign === 'p') === !negated ? 'p' : 'P';
  return { source: `\\${is}{${propertyOf(letter ?? long ?? '')}}`, end: at + property.length };
}

/** ripgrep takes names in any spelling, and those of scripts alone; JavaScript takes one. */
function propertyOf(name: string): string {
  const [value = '', key] = name.split(/[:=]/).reverse();
  const title = value
    .trim()
    .toLowerCase()
    .replace(/[ _-]+/g, '_')
    .replace(/(^|_)[a-z]/g, (start) => start.toUpperCase());
  const keys: Record<string, string> = {
    sc: 'Script',
    script: 'Script',
    scx: 'Script_Extensions',
    gc: 'General_Category',
  };
  const long = key && (keys[key.trim().toLowerCase()] ?? key);
  const tried = long
    ? [value, title].map((one) => `${long}=${one}`)
    : [value, title, value.toUpperCase(), `Script=${title}`];
  const known = tried.find((one) => /^[\w=]+$/.test(one) && isPattern(`\\p{${one}}`));
  if (known === undefined) throw new UnsupportedError(`the property ${name} is not known without ripgrep`);
  return known;
}

function isPattern(source: string): boolean {
  try {
    return new RegExp(source, 'v').source !== '';
  } catch {
    return false;
  }
}

/** One character, escaped or not, in a class and outside. */
export function characterAt(pattern: string, at: number): { character: string; end: number } {
  const plain = String.fromCodePoint(pattern.codePointAt(at) ?? 0);
  if (plain !== '\\') return { character: plain, end: at + plain.length };
  const rest = pattern.slice(at + 1);
  const [code, braced, ...fixed] =
    /^(?:[xuU]\{([\da-fA-F]+)\}|x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8}))/.exec(rest) ?? [];
  if (code) {
    const value = Number.parseInt(braced ?? fixed.find(Boolean) ?? '', 16);
    if (value > 0x10ffff) throw new UnsupportedError(`\\${code} is no character`);
    return { character: String.fromCodePoint(value), end: at + 1 + code.length };
  }
  const escaped = rest === '' ? '' : String.fromCodePoint(rest.codePointAt(0) ?? 0);
  const control = CONTROLS[escaped];
  if (control !== undefined) return { character: String.fromCodePoint(control), end: at + 2 };
  if (/^[A-Za-z0-9]?$/.test(escaped))
    throw new UnsupportedError(escaped ? `the escape \\${escaped} is unknown` : 'it ends with a "\\"');
  return { character: escaped, end: at + 1 + escaped.length };
}

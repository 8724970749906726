// Classes of characters in an expression, as ripgrep reads them: [a-z], [^[:space:]], [\w--\d], [a-z&&[^aeiou]]. Pure.
import { characterAt, literal, setAt, UnsupportedError, type Piece } from './expression-escapes';

/** ASCII, unlike \w, \d and \s. */
const POSIX: Record<string, string> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  ascii: '\\x00-\\x7f',
  blank: '\\t\\x20',
  cntrl: '\\x00-\\x1f\\x7f',
  digit: '0-9',
  graph: '\\x21-\\x7e',
  lower: 'a-z',
  print: '\\x20-\\x7e',
  punct: '\\x21-\\x2f\\x3a-\\x40\\x5b-\\x60\\x7b-\\x7e',
  space: '\\t\\n\\v\\f\\r\\x20',
  upper: 'A-Z',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
};

/** The class that begins with the bracket at `start`. */
export function classAt(pattern: string, start: number): Piece {
  const negated = pattern[start + 1] === '^';
  let at = start + (negated ? 2 : 1);
  let items = '';
  // At the beginning these stand for themselves.
  for (; pattern[at] === '-'; at++) items += '\\-';
  if (items === '' && pattern[at] === ']') {
    items = '\\]';
    at += 1;
  }
  // What stands on the left of && or --, with the sign.
  let left = '';
  for (;;) {
    if (at >= pattern.length) throw new UnsupportedError('a "[" is not closed');
    if (pattern[at] === ']')
      return { source: `[${negated ? '^' : ''}${left}${left ? `[${items}]` : items}]`, end: at + 1 };
    const [sign] = /^(?:&&|--|~~)/.exec(pattern.slice(at, at + 2)) ?? [];
    if (sign === '~~') throw new UnsupportedError('~~ in a class is not supported without ripgrep');
    if (sign !== undefined) {
      left = `${left ? `[${left}[${items}]]` : `[${items}]`}${sign}`;
      items = '';
      at += 2;
      continue;
    }
    const { source, end } = itemAt(pattern, at);
    items += source;
    at = end;
  }
}

function itemAt(pattern: string, at: number): Piece {
  if (pattern[at] === '[') return posixAt(pattern, at) ?? classAt(pattern, at);
  const set = setAt(pattern, at);
  if (set) return set;
  const { character: from, end } = characterAt(pattern, at);
  const isRange = pattern[end] === '-' && ![undefined, ']', '-'].includes(pattern[end + 1]);
  // A set ends no range: then the dash stands for itself, as in [a-\d].
  if (!isRange || setAt(pattern, end + 1)) return { source: literal(from), end };
  const to = characterAt(pattern, end + 1);
  return { source: `${literal(from)}-${literal(to.character)}`, end: to.end };
}

function posixAt(pattern: string, at: number): Piece | undefined {
  const [all, negated, name = ''] = /^\[:(\^?)([a-z]+):\]/.exec(pattern.slice(at)) ?? [];
  const set = Object.hasOwn(POSIX, name) ? POSIX[name] : undefined;
  if (all === undefined || set === undefined) return undefined;
  return { source: negated ? `[^${set}]` : set, end: at + all.length };
}

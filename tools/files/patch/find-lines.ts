// Finds lines of a patch in a file, first exactly, then less and less strictly. Pure.

/** Typographic characters that models write instead of keyboard characters, and vice versa. */
const PLAIN: readonly [RegExp, string][] = [
  [/[\u2010-\u2015\u2212]/g, '-'],
  [/[\u2018-\u201b]/g, "'"],
  [/[\u201c-\u201f]/g, '"'],
  [/[\u00a0\u2002-\u200a\u202f\u205f\u3000]/g, ' '],
];
const HAS_OTHERS = /[\u00a0\u2002-\u2015\u2018-\u201f\u202f\u205f\u2212\u3000]/;
function plain(line: string): string {
  const text = line.trim();
  return HAS_OTHERS.test(text)
    ? PLAIN.reduce((so, [pattern, character]) => so.replace(pattern, character), text)
    : text;
}

/** In Codex's order: exact, without trailing white space, without surrounding white space, with plain punctuation. */
const READINGS: readonly ((line: string) => string)[] = [
  (line) => line,
  (line) => line.trimEnd(),
  (line) => line.trim(),
  plain,
];

export interface Nearest {
  /** Index of the line that differs. */
  at: number;
  /** The wanted line that is not there. */
  wanted: string;
}

/** The lines of one file. Each is read once in each way, and a search looks at each a bounded number of times. */
export class FileLines {
  private readonly readings: (readonly string[])[] = [];

  constructor(readonly lines: readonly string[]) {}

  /** Index of the first match of `wanted` at or after `from`; with `atEnd` only at the end. */
  find(wanted: readonly string[], from: number, atEnd = false): number | undefined {
    const last = this.lines.length - wanted.length;
    const start = atEnd ? Math.max(last, from) : from;
    if (start > last) return undefined;
    for (const [way, read] of READINGS.entries())
      for (const { at, alike } of matches(this.read(way), wanted.map(read), start))
        if (alike === wanted.length) return at;
    return undefined;
  }

  /** Where most of the wanted lines occur in sequence, for a helpful error; undefined if none occurs. */
  nearest(wanted: readonly string[]): Nearest | undefined {
    const readWanted = wanted.map(plain);
    /** How many of the first lines say something: empty lines and brackets occur everywhere. */
    const meaningful = [0];
    for (const line of readWanted) meaningful.push((meaningful.at(-1) ?? 0) + (/\w/.test(line) ? 1 : 0));
    let best: Nearest | undefined;
    let most = 0;
    for (const { at, alike } of matches(this.read(READINGS.indexOf(plain)), readWanted, 0)) {
      const count = meaningful[alike] ?? 0;
      if (count <= most) continue;
      most = count;
      best = { at: at + alike, wanted: wanted[alike] ?? '' };
    }
    return best;
  }

  private read(way: number): readonly string[] {
    const read = READINGS[way] ?? plain;
    return (this.readings[way] ??= this.lines.map(read));
  }
}

interface Match {
  at: number;
  /** How many lines from there are the same as the first ones that are wanted. */
  alike: number;
}

/** For each line from `from` on, in linear time. */
function* matches(lines: readonly string[], wanted: readonly string[], from: number): Generator<Match> {
  const own = [wanted.length];
  for (const { alike } of alikes(wanted, wanted, own, 1)) own.push(alike);
  yield* alikes(lines, wanted, own, from);
}

/**
 * The Z algorithm (Gusfield 1997): what was compared before is known from how `wanted` repeats itself.
 * @param own how many lines from each of `wanted` are the same as its first ones, at least for those before `from`
 */
function* alikes(
  lines: readonly string[],
  wanted: readonly string[],
  own: readonly number[],
  from: number,
): Generator<Match> {
  // The match that reaches furthest.
  let start = from;
  let end = from;
  for (let at = from; at < lines.length; at++) {
    let alike = at < end ? Math.min(end - at, own[at - start] ?? 0) : 0;
    while (alike < wanted.length && at + alike < lines.length && wanted[alike] === lines[at + alike]) alike++;
    if (at + alike > end) {
      start = at;
      end = at + alike;
    }
    yield { at, alike };
  }
}

// Finds lines of a patch in a file, first exactly, then less and less strictly. Pure.

/** Typographic characters that models write instead of keyboard characters, and vice versa. */
const PLAIN: readonly [RegExp, string][] = [
  [/[\u2010-\u2015\u2212]/g, '-'],
  [/[\u2018-\u201b]/g, "'"],
  [/[\u201c-\u201f]/g, '"'],
  [/[\u00a0\u2002-\u200a\u202f\u205f\u3000]/g, ' '],
];
const plain = (line: string): string =>
  PLAIN.reduce((text, [pattern, character]) => text.replace(pattern, character), line.trim());

/** In Codex's order: exact, without trailing white space, without surrounding white space, with plain punctuation. */
const READINGS: readonly ((line: string) => string)[] = [
  (line) => line,
  (line) => line.trimEnd(),
  (line) => line.trim(),
  plain,
];

/** Index of the first match of `wanted` at or after `from`; with `atEnd` only at the end. */
export function findLines(
  lines: readonly string[],
  wanted: readonly string[],
  from: number,
  atEnd = false,
): number | undefined {
  const last = lines.length - wanted.length;
  for (const read of READINGS) {
    const readWanted = wanted.map(read);
    for (let at = atEnd ? Math.max(last, from) : from; at <= last; at++)
      if (readWanted.every((line, index) => line === read(lines[at + index] ?? ''))) return at;
  }
  return undefined;
}

export interface Nearest {
  /** Index of the line that differs. */
  at: number;
  /** The wanted line that is not there. */
  wanted: string;
}

/** Where most of the wanted lines occur in sequence, for a helpful error; undefined if none occurs. */
export function findNearest(lines: readonly string[], wanted: readonly string[]): Nearest | undefined {
  const readWanted = wanted.map(plain);
  const readLines = lines.map(plain);
  let best: Nearest | undefined;
  let most = 0;
  for (let at = 0; at < lines.length; at++) {
    const differs = readWanted.findIndex((line, index) => line !== readLines[at + index]);
    // Empty lines and brackets occur everywhere.
    const alike = readWanted.slice(0, Math.max(differs, 0)).filter((line) => /\w/.test(line)).length;
    if (alike <= most) continue;
    most = alike;
    best = { at: at + differs, wanted: wanted[differs] ?? '' };
  }
  return best;
}

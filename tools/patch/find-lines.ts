// Finds lines of a patch in a file, at first exactly and then with less and less care. Pure.

/** Typographic characters that models write in place of those of the keyboard, and the other way round. */
const PLAIN: readonly [RegExp, string][] = [
  [/[\u2010-\u2015\u2212]/g, '-'],
  [/[\u2018-\u201b]/g, "'"],
  [/[\u201c-\u201f]/g, '"'],
  [/[\u00a0\u2002-\u200a\u202f\u205f\u3000]/g, ' '],
];
const plain = (line: string): string =>
  PLAIN.reduce((text, [pattern, character]) => text.replace(pattern, character), line.trim());

/** In the order of Codex: as it is, without white space behind, without any around, with plain punctuation. */
const READINGS: readonly ((line: string) => string)[] = [
  (line) => line,
  (line) => line.trimEnd(),
  (line) => line.trim(),
  plain,
];

/** Index of the first place at or behind `from` where `wanted` stands; with `atEnd` only at the end. */
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
  /** Of the wanted lines the one that does not stand there. */
  wanted: string;
}

/** Where most of the wanted lines stand one after the other, for an error that helps; undefined where none does. */
export function findNearest(lines: readonly string[], wanted: readonly string[]): Nearest | undefined {
  const readWanted = wanted.map(plain);
  const readLines = lines.map(plain);
  let best: Nearest | undefined;
  let most = 0;
  for (let at = 0; at < lines.length; at++) {
    const differs = readWanted.findIndex((line, index) => line !== readLines[at + index]);
    // Empty lines and brackets stand everywhere.
    const alike = readWanted.slice(0, Math.max(differs, 0)).filter((line) => /\w/.test(line)).length;
    if (alike <= most) continue;
    most = alike;
    best = { at: at + differs, wanted: wanted[differs] ?? '' };
  }
  return best;
}

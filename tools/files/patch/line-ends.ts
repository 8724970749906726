// A text as lines with their ends, so that changed lines take the ends of their neighbours. Pure.
type LineEnd = '\n' | '\r\n';

/** A line without its end. */
export interface Line {
  text: string;
  end: LineEnd;
}

/** The last line of a text may have no end: then it gets one here, as the lines around it have, and `isOpen` says so. */
export interface Lines {
  lines: Line[];
  isOpen: boolean;
  /** The end that most lines have; "\n" if none has more. */
  usual: LineEnd;
}

export function splitLines(text: string): Lines {
  const parts = text.split('\n');
  const last = parts.pop() ?? '';
  const lines: Line[] = parts.map((part) =>
    part.endsWith('\r') ? { text: part.slice(0, -1), end: '\r\n' } : { text: part, end: '\n' },
  );
  const usual = usualOf(lines);
  if (last !== '') lines.push({ text: last, end: lines.at(-1)?.end ?? usual });
  return { lines, isOpen: last !== '', usual };
}

function usualOf(lines: readonly Line[]): LineEnd {
  const dos = lines.filter(({ end }) => end === '\r\n').length;
  return dos > lines.length - dos ? '\r\n' : '\n';
}

export function joinLines(lines: readonly Line[], isOpen: boolean): string {
  const last = lines.length - 1;
  return lines.map(({ text, end }, index) => (isOpen && index === last ? text : text + end)).join('');
}

/** The end of a line that is put between two: theirs if they agree, otherwise the usual one. */
export function endBetween(before: Line | undefined, after: Line | undefined, usual: LineEnd): LineEnd {
  if (before && after) return before.end === after.end ? before.end : usual;
  return (before ?? after)?.end ?? usual;
}

// Which parts of a reply are code, as in Markdown (CommonMark 4.5 and 6.1): what stands there is quoted, not meant. Pure.

export interface Span {
  /** With its backticks. */
  start: number;
  end: number;
  isFence: boolean;
}

const FENCE = /^ {0,3}(`{3,}|~{3,})[^\n]*$/gm;
const PARAGRAPH_END = /\n[ \t]*\n/g;

/** In order; a fence without an end lasts until the end of the text. */
export function codeSpans(text: string): Span[] {
  if (!text.includes('`') && !text.includes('~~~')) return [];
  const spans: Span[] = [];
  let at = 0;
  for (const fence of fences(text)) {
    spans.push(...inlineSpans(text, at, fence.start), fence);
    at = fence.end;
  }
  return [...spans, ...inlineSpans(text, at, text.length)];
}

function fences(text: string): Span[] {
  const found: Span[] = [];
  let open: { start: number; mark: string } | undefined;
  for (const match of text.matchAll(FENCE)) {
    const [line, mark = ''] = match;
    if (!open) {
      // A line such as ```x``` is inline code.
      if (mark.startsWith('~') || !line.slice(line.indexOf(mark) + mark.length).includes('`'))
        open = { start: match.index, mark };
    } else if (mark.startsWith(open.mark) && line.trim() === mark) {
      found.push({ start: open.start, end: match.index + line.length, isFence: true });
      open = undefined;
    }
  }
  return open ? [...found, { start: open.start, end: text.length, isFence: true }] : found;
}

/** Each between two runs of equally many backticks in one paragraph. */
function inlineSpans(text: string, from: number, to: number): Span[] {
  const ends = [...text.slice(from, to).matchAll(PARAGRAPH_END)].map(({ index }) => from + index);
  const runs = [...text.slice(from, to).matchAll(/`+/g)].map(({ 0: run, index }) => ({
    start: from + index,
    end: from + index + run.length,
  }));
  const nextAlike = nextOfSame(runs.map(({ start, end }) => end - start));
  const spans: Span[] = [];
  let paragraph = 0;
  for (let at = 0; at < runs.length; at++) {
    const { start } = runs[at] ?? { start: 0 };
    while (paragraph < ends.length && (ends[paragraph] ?? 0) < start) paragraph += 1;
    const close = nextAlike[at] ?? -1;
    const end = runs[close]?.end;
    if (end === undefined || end > (ends[paragraph] ?? Infinity)) continue;
    spans.push({ start, end, isFence: false });
    at = close;
  }
  return spans;
}

/** For each number the place of the next equal one; -1 if there is none. */
function nextOfSame(numbers: readonly number[]): number[] {
  const last = new Map<number, number>();
  const next = numbers.map(() => -1);
  for (const [at, number] of [...numbers.entries()].reverse()) {
    next[at] = last.get(number) ?? -1;
    last.set(number, at);
  }
  return next;
}

/** The inline code around a part of the text. */
export function inlineCodeAround(spans: readonly Span[], from: number, to: number): Span | undefined {
  let [low, high] = [0, spans.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((spans[middle]?.end ?? 0) <= from) low = middle + 1;
    else high = middle;
  }
  const span = spans[low];
  return span && !span.isFence && span.start < from && to < span.end ? span : undefined;
}

/** Whether a text is inline code and nothing else. */
export function isOneSpan(text: string): boolean {
  const [span, ...more] = codeSpans(text);
  return more.length === 0 && span?.start === 0 && span.end === text.length && !span.isFence;
}

/** The text with spaces in place of code. */
export function withoutCode(text: string, spans: readonly Span[]): string {
  let plain = '';
  let at = 0;
  for (const { start, end } of spans) {
    plain += text.slice(at, start) + ' '.repeat(end - start);
    at = end;
  }
  return plain + text.slice(at);
}

// A log of any length as windows that can be drawn one by one: where each begins and ends, and its text. Pure.

export const WINDOW_BYTES = 64 * 1024;
/** Looked at before a window's edge: most escape sequences are shorter. */
const BEFORE_BYTES = 256;
/** Looked at after an edge for the end of a line. */
const AFTER_BYTES = 4 * 1024;

/** A part of the log as it was read: bytes, or why there are none. */
export interface Chunk {
  from: number;
  to: number;
  /** Null if this part is missing. */
  data: Uint8Array | null;
  cause?: string;
}

/** The windows of a log that ends at `end`: at least one. */
export const windowCount = (end: number): number => Math.max(1, Math.ceil(end / WINDOW_BYTES));

/** The window whose nominal part has this offset. */
export const windowAt = (offset: number, end: number): number =>
  Math.min(windowCount(end) - 1, Math.max(0, Math.floor(offset / WINDOW_BYTES)));

/** What has to be read to draw a window. */
export const reachOf = (index: number, end: number): { from: number; to: number } => ({
  from: Math.max(0, index * WINDOW_BYTES - BEFORE_BYTES),
  to: Math.min(end, (index + 1) * WINDOW_BYTES + AFTER_BYTES),
});

/** Windows next to each other that stay in the page. */
export const MAX_WINDOWS = 5;

export interface LogWindow extends LogPart {
  index: number;
  /** More than from `from` to `to`: what lies around the edges, too. */
  chunks: Chunk[];
  /** The log's end when it was read. */
  end: number;
}

/** Cuts a window out of what `reachOf` says has been read. */
export const windowOf = (index: number, chunks: Chunk[], end: number): LogWindow => ({
  index,
  from: cutAt(index * WINDOW_BYTES, chunks, end),
  to: index === windowCount(end) - 1 ? end : cutAt((index + 1) * WINDOW_BYTES, chunks, end),
  chunks,
  end,
});

/** Puts a window where it belongs; those farthest from it are dropped, and those that are not next to the others. */
export function withWindow(windows: readonly LogWindow[], one: LogWindow): LogWindow[] {
  const others = windows.filter(({ index }) => index !== one.index);
  const [first, last] = [others[0]?.index ?? one.index, others.at(-1)?.index ?? one.index];
  if (one.index < first - 1 || one.index > last + 1) return [one];
  const all = [...others, one].sort((a, b) => a.index - b.index);
  return one.index < last ? all.slice(0, MAX_WINDOWS) : all.slice(-MAX_WINDOWS);
}

/** A window whose end was not whole when it was read, because the log ended there. */
export const isOutOfDate = ({ index, end }: LogWindow, endNow: number): boolean =>
  reachOf(index, endNow).to > reachOf(index, end).to;

/**
 * Where the windows on both sides of `edge` meet: after the first line end at or after it. Where none is near, it is the
 * first place that is within no character and no escape sequence. Both windows find the same one, because both have read
 * the same bytes around it.
 */
export function cutAt(edge: number, chunks: readonly Chunk[], end: number): number {
  if (edge <= 0) return 0;
  if (edge >= end) return end;
  const chunk = chunks.find(({ from, to }) => from <= edge && edge < to);
  if (!chunk?.data) return edge;
  const at = edge - chunk.from;
  const near = chunk.data.subarray(0, at + AFTER_BYTES);
  const before = Math.max(0, at - BEFORE_BYTES);
  if (near[at - 1] === LF) return edge;
  const line = near.indexOf(LF, at);
  if (line >= 0) return chunk.from + line + 1;
  const escape = near.subarray(before, at).lastIndexOf(ESC);
  let cut = at;
  if (escape >= 0) {
    let state: State = 'text';
    let next = before + escape;
    while (next < near.length && (next < at || state !== 'text')) state = after(state, near[next++] ?? 0);
    // A sequence that does not end near here is not waited for.
    if (state === 'text') cut = next;
  }
  while (cut < near.length && isContinuation(near[cut] ?? 0)) cut++;
  return chunk.from + cut;
}

const LF = 0x0a;
const CR = 0x0d;
const ESC = 0x1b;
const BEL = 0x07;

const isContinuation = (byte: number): boolean => (byte & 0xc0) === 0x80;

/** Where in an escape sequence (ECMA-48) a byte stands: `text` is outside of any. */
type State = 'text' | 'escape' | 'control' | 'string';

function after(state: State, byte: number): State {
  // Cancelled, or a line end, so that a sequence without an end hides one line at most.
  if (byte === LF || byte === 0x18 || byte === 0x1a) return 'text';
  if (byte === ESC) return 'escape';
  switch (state) {
    case 'text':
      return 'text';
    case 'escape':
      if (byte === 0x5b) return 'control';
      // OSC, DCS, SOS, PM, APC
      if ([0x5d, 0x50, 0x58, 0x5e, 0x5f].includes(byte)) return 'string';
      return byte >= 0x20 && byte <= 0x2f ? 'escape' : 'text';
    case 'control':
      return byte >= 0x40 && byte <= 0x7e ? 'text' : 'control';
    case 'string':
      return byte === BEL ? 'text' : 'string';
  }
}

/** A run of text as it is drawn. */
export interface Run {
  kind: 'text' | 'match' | 'missing';
  text: string;
}

/** From an offset up to another. */
export interface LogPart {
  from: number;
  to: number;
}

/** The text between two offsets, without escape sequences; `match` is set apart. */
export function runsOf(chunks: readonly Chunk[], part: LogPart, match: LogPart | null): Run[] {
  const runs: Run[] = [];
  const add = (kind: Run['kind'], text: string): void => {
    if (text !== '') runs.push({ kind, text });
  };
  for (const chunk of chunks) {
    const [from, to] = [Math.max(part.from, chunk.from), Math.min(part.to, chunk.to)];
    if (from >= to) continue;
    if (!chunk.data) {
      add('missing', `Bytes ${from} to ${to} no longer exist: ${chunk.cause ?? 'unknown'}.`);
      continue;
    }
    const { text, edges } = inert(chunk.data.subarray(from - chunk.from, to - chunk.from), [
      (match?.from ?? Infinity) - from,
      (match?.to ?? Infinity) - from,
    ]);
    const [begin = text.length, stop = text.length] = edges;
    add('text', text.slice(0, begin));
    // An empty one marks a place.
    if (match && from <= match.from && match.from < to)
      runs.push({ kind: 'match', text: text.slice(begin, stop) });
    else add('match', text.slice(begin, stop));
    add('text', text.slice(stop));
  }
  return runs;
}

/** Bytes as text; `at` are offsets in the bytes, in order, and `edges` the places in the text that they fall on. */
function inert(bytes: Uint8Array, at: readonly number[]): { text: string; edges: number[] } {
  let text = '';
  const edges: number[] = [];
  const kept = new Uint8Array(bytes.length);
  let length = 0;
  let state: State = 'text';
  const flush = (): void => {
    text += visible(new TextDecoder('utf-8', { ignoreBOM: true }).decode(kept.subarray(0, length)));
    length = 0;
  };
  for (let index = 0; index <= bytes.length; index++) {
    for (let next = at[edges.length]; next !== undefined && next <= index; next = at[edges.length]) {
      flush();
      edges.push(text.length);
    }
    const byte = bytes[index];
    if (byte === undefined) break;
    const was = state;
    state = after(state, byte);
    if (state !== 'text' || (was !== 'text' && byte !== LF)) continue;
    if (byte !== CR) kept[length++] = byte;
    // A line that overwrites itself is shown as it was each time.
    else if (!isLineEnd(bytes, index) && length > 0 && kept[length - 1] !== LF) kept[length++] = LF;
  }
  flush();
  return { text, edges };
}

/** Terminals write a line end as CR LF; some programs add a CR of their own. */
function isLineEnd(bytes: Uint8Array, index: number): boolean {
  let next = index;
  while (bytes[next] === CR) next++;
  return bytes[next] === LF;
}

/** Controls, and characters without a shape or that change direction: a reader has to see that they are there. */
const UNSEEN = /(?![\t\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

const visible = (text: string): string =>
  text.replace(UNSEEN, (char) => {
    const code = char.codePointAt(0) ?? 0;
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return `‹U+${code.toString(16).toUpperCase().padStart(4, '0')}›`;
  });

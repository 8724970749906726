// The bounded text of a session's output between two offsets: the beginning and the end of long output, with a note on
// what is left out and where to read it.
import { missingNote, type MissingPart, type Part } from '../../contracts/sessions/missing-output';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { countLines, isMissing, logEnd, logStart, missingParts, readWhole } from './log-reader';
import { partsWithin } from './lost-parts';
import { renderText } from './render';

/** A model sees at most this much per answer; the rest is in the log, by offset. */
const HEAD_BYTES = 4 * 1024;
const TAIL_BYTES = 12 * 1024;
/** The beginning of a control sequence, or of a string such as a title, at the end of a text (ECMA-48 5.3 to 5.6). */
// eslint-disable-next-line no-control-regex -- control characters are the point
const UNFINISHED = /\x1b(?:\[[0-?]*[ -/]*|[\]PX^_k][^\x00-\x1f]*|[ -/]*)$/;
/** Longer ones are not looked for. */
const MAX_SEQUENCE_BYTES = 1_024;
/** The most of a prompt, with all that colours and redraws it. */
const MAX_LINE_BYTES = 4 * 1024;
/** More of the log may be dropped or truncated while it is read. */
const ATTEMPTS = 10;

export interface OutputView {
  output: string;
  from: number;
  to: number;
  omittedBytes: number;
  /** If present, this many requested bytes before `from` were dropped. */
  droppedBytes?: number;
}

/**
 * Head and tail of the bytes from `from` to `to`, with a note in place of what is missing. `lost` is the missing end of
 * the log, if its files cannot show that. Throws `offset_out_of_range`, and `storage_failed` if the log ends before
 * that.
 */
export const boundedView = (path: string, from: number, to: number, lost?: Part): Promise<OutputView> =>
  behindDropped(path, from, lost, (kept, truncated) => {
    if (kept > to) return Promise.resolve({ output: '', from: to, to, omittedBytes: 0 });
    const gaps = partsWithin(truncated, { from: kept, to });
    return gaps.length > 0 ? aroundGaps(path, { from: kept, to }, gaps) : headAndTail(path, kept, to);
  });

/**
 * The bytes from `from` to `to`, gapless except for what is missing. If the first of them have been dropped, as many
 * bytes from the beginning of the log. A note stands for a truncated part, up to its end, even beyond `to`. A character
 * or a control sequence that `to` would cut is left for the next page. Throws like `boundedView`.
 */
export const page = (path: string, from: number, to: number, lost?: Part): Promise<OutputView> =>
  behindDropped(path, from, lost, (kept, truncated) => {
    const end = kept === from ? to : Math.min(kept + to - from, Math.max(to, lost?.to ?? logEnd(path)));
    return pageBetween(path, { from: kept, to: end }, truncated);
  });

/** Each stretch of text between two offsets that is not missing. Throws like `boundedView`. */
export const keptTexts = (path: string, range: Part, lost?: Part): Promise<string[]> =>
  asItIs(path, lost, (missing) => {
    const ends = [...partsWithin(missing, range), { from: range.to, to: range.to }];
    const starts = [range.from, ...ends.map(({ to }) => to)];
    return Promise.all(ends.map(({ from }, n) => renderText(readWhole(path, starts[n] ?? from, from))));
  });

/** Shows the log from `from` on, or from its current beginning; notes what has been dropped. */
const behindDropped = (
  path: string,
  from: number,
  lost: Part | undefined,
  show: (from: number, truncated: readonly MissingPart[]) => Promise<OutputView>,
): Promise<OutputView> =>
  asItIs(path, lost, async (missing) => {
    const truncated = missing.filter(({ cause }) => cause === 'truncated');
    const dropped = missing.find(({ cause }) => cause === 'dropped');
    if (from < 0 || !dropped || dropped.to <= from) return show(from, truncated);
    const kept = await show(dropped.to, truncated);
    const droppedBytes = kept.from - from;
    return {
      ...kept,
      output: withLine('', missingNote(dropped, { bytes: droppedBytes })) + kept.output,
      droppedBytes,
    };
  });

/** Retries if something has gone missing between the look and the read. */
async function asItIs<T>(
  path: string,
  lost: Part | undefined,
  show: (missing: MissingPart[]) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await show(missingParts(path, lost));
    } catch (err) {
      if (!isMissing(err) || attempt === ATTEMPTS) throw err;
    }
  }
}

/** The text before the first gap and after the last, each bounded. */
async function aroundGaps(
  path: string,
  { from, to }: Part,
  gaps: readonly MissingPart[],
): Promise<OutputView> {
  const [first, last] = [gaps[0], gaps.at(-1)];
  if (!first || !last) return headAndTail(path, from, to);
  const before = await headAndTail(path, from, first.from);
  const after = await headAndTail(path, last.to, to);
  const bytes = gaps.reduce((sum, gap) => sum + gap.to - gap.from, 0);
  const between = last.to - first.from - bytes;
  const more = between > 0 ? `; ${between} bytes between omitted, read from offset ${first.to}` : '';
  const output = withLine(before.output, missingNote(first, { bytes, more })) + after.output;
  const omittedBytes = before.omittedBytes + bytes + between + after.omittedBytes;
  return { output, from, to: after.to, omittedBytes };
}

async function pageBetween(
  path: string,
  { from, to }: Part,
  truncated: readonly MissingPart[],
): Promise<OutputView> {
  const view = { output: '', from, to: from, omittedBytes: 0 };
  for (const gap of partsWithin(truncated, { from, to: Infinity })) {
    if (gap.from >= to) break;
    view.output += await renderText(readWhole(path, view.to, gap.from));
    view.output = withLine(view.output, missingNote(gap));
    view.omittedBytes += gap.to - gap.from;
    view.to = gap.to;
  }
  const data = withWholeEnd(readWhole(path, view.to, to));
  view.output += await renderText(data, view.to === from ? lineBefore(path, from) : undefined);
  view.to += data.length;
  return view;
}

async function headAndTail(path: string, from: number, to: number): Promise<OutputView> {
  if (to - from <= HEAD_BYTES + TAIL_BYTES) return pageBetween(path, { from, to }, []);
  const head = cutAtLine(readWhole(path, from, from + HEAD_BYTES), 'end');
  const tail = cutAtLine(readWhole(path, to - TAIL_BYTES, to), 'start');
  const omittedBytes = to - from - head.length - tail.length;
  const behind = from + head.length;
  const lines = await countLines(path, behind, behind + omittedBytes);
  const omitted = `${omittedBytes} bytes${lines === undefined ? '' : ` / ${lines} lines`} omitted`;
  const note = `\n[${omitted}, read from offset ${behind}]\n`;
  return {
    output: (await renderText(head, lineBefore(path, from))) + note + (await renderText(tail)),
    from,
    to,
    omittedBytes,
  };
}

/** The beginning of the line that goes on at an offset; empty if it is long, or can no longer be read. */
function lineBefore(path: string, at: number): Buffer {
  const start = Math.max(logStart(path), at - MAX_LINE_BYTES);
  if (start >= at) return Buffer.alloc(0);
  try {
    const data = readWhole(path, start, at);
    const end = data.lastIndexOf(0x0a);
    return end < 0 && start > 0 ? Buffer.alloc(0) : data.subarray(end + 1);
  } catch (err) {
    if (!(err instanceof HoldfastError)) throw err;
    return Buffer.alloc(0);
  }
}

const withLine = (text: string, line: string): string =>
  `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${line}\n`;

function cutAtLine(data: Buffer, side: 'start' | 'end'): Buffer {
  if (side === 'end') {
    const at = data.lastIndexOf(0x0a);
    return at < 0 ? withWholeEnd(data) : data.subarray(0, at + 1);
  }
  // A bar that is redrawn repeatedly is one line: its last states begin at a carriage return.
  const at = data.findIndex((byte) => byte === 0x0a || byte === 0x0d);
  if (at >= 0 && at < data.length / 2) return data.subarray(data[at + 1] === 0x0a ? at + 2 : at + 1);
  let start = 0;
  while (start < 3 && ((data[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return data.subarray(start);
}

/**
 * Cuts what goes on behind the end, unless nothing would be left: a character, or a control sequence, whose rest would be
 * text there.
 */
function withWholeEnd(data: Buffer): Buffer {
  const cut = cutAtCharacter(data);
  const tail = cut.subarray(-MAX_SEQUENCE_BYTES);
  const at = tail.toString('latin1').search(UNFINISHED);
  const end = cut.length - tail.length + at;
  return at < 0 || end === 0 ? cut : cut.subarray(0, end);
}

/** Cuts an incomplete UTF-8 sequence at the end (RFC 3629), unless nothing would be left. */
function cutAtCharacter(data: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, data.length - 1); back++) {
    const byte = data[data.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? data.subarray(0, data.length - back) : data;
  }
  return data;
}

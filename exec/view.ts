// The bounded text of what a session printed between two offsets: the beginning and the end of long output,
// with what is left out and where to read it.
import { droppedNote } from '../contracts/dropped-output';
import { countLines, logStart, readLog, wasDropped } from './log-reader';
import { renderText } from './render';

/** A model sees at most so much of one answer; the rest is in the log, by offset. */
const HEAD_BYTES = 4 * 1024;
const TAIL_BYTES = 12 * 1024;
/** The log may go on dropping its oldest part while that is read. */
const ATTEMPTS = 10;

export interface OutputView {
  output: string;
  from: number;
  to: number;
  omittedBytes: number;
  /** Present: so many bytes before `from` were asked for, and are not kept any more. */
  droppedBytes?: number;
}

/** Head and tail of the bytes from `from` to `to`, as far as they are kept. Throws `offset_out_of_range`. */
export const boundedView = (path: string, from: number, to: number): Promise<OutputView> =>
  ofWhatIsKept(path, from, (kept) =>
    kept > to ? Promise.resolve({ output: '', from: to, to, omittedBytes: 0 }) : headAndTail(path, kept, to),
  );

/**
 * The bytes from `from` to `to`, gapless. A character that `to` would cut is left for the next page. Where the first of
 * them are not kept any more, as many from where the log begins.
 */
export const page = (path: string, from: number, to: number): Promise<OutputView> =>
  ofWhatIsKept(path, from, (kept) => gapless(path, kept, kept + to - from));

/** What `show` makes of the log from `from` on; says what of it has been dropped. */
async function ofWhatIsKept(
  path: string,
  from: number,
  show: (from: number) => Promise<OutputView>,
): Promise<OutputView> {
  for (let attempt = 1; ; attempt++) {
    const start = logStart(path);
    try {
      if (from < 0 || start <= from) return await show(from);
      const kept = await show(start);
      const droppedBytes = kept.from - from;
      return { ...kept, output: droppedNote(droppedBytes, start) + kept.output, droppedBytes };
    } catch (err) {
      if (!wasDropped(err) || attempt === ATTEMPTS) throw err;
    }
  }
}

async function headAndTail(path: string, from: number, to: number): Promise<OutputView> {
  if (to - from <= HEAD_BYTES + TAIL_BYTES) return { ...(await gapless(path, from, to)), from };
  const head = cutAtLine(readLog(path, from, from + HEAD_BYTES), 'end');
  const tail = cutAtLine(readLog(path, to - TAIL_BYTES, to), 'start');
  const omittedBytes = to - from - head.length - tail.length;
  const behind = from + head.length;
  const lines = await countLines(path, behind, behind + omittedBytes);
  const omitted = `${omittedBytes} bytes${lines === undefined ? '' : ` / ${lines} lines`} omitted`;
  const note = `\n[${omitted}, read from offset ${behind}]\n`;
  return { output: (await renderText(head)) + note + (await renderText(tail)), from, to, omittedBytes };
}

async function gapless(path: string, from: number, to: number): Promise<OutputView> {
  const data = cutAtCharacter(readLog(path, from, to));
  return { output: await renderText(data), from, to: from + data.length, omittedBytes: 0 };
}

function cutAtLine(data: Buffer, side: 'start' | 'end'): Buffer {
  if (side === 'end') {
    const at = data.lastIndexOf(0x0a);
    return at < 0 ? cutAtCharacter(data) : data.subarray(0, at + 1);
  }
  // A bar that is drawn again and again is one line: its last states begin at a return.
  const at = data.findIndex((byte) => byte === 0x0a || byte === 0x0d);
  if (at >= 0 && at < data.length / 2) return data.subarray(data[at + 1] === 0x0a ? at + 2 : at + 1);
  let start = 0;
  while (start < 3 && ((data[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return data.subarray(start);
}

/** Leaves away an incomplete UTF-8 sequence at the end (RFC 3629), unless nothing would be left. */
function cutAtCharacter(data: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, data.length - 1); back++) {
    const byte = data[data.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? data.subarray(0, data.length - back) : data;
  }
  return data;
}

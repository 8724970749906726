// Keeps the beginning and the end of output that may be unbounded.

export class HeadTail {
  private readonly head: Buffer[] = [];
  private tail: Buffer[] = [];
  private headBytes = 0;
  private tailBytes = 0;
  private bytes = 0;

  /** Keeps half of `maxBytes` from each end. */
  constructor(private readonly maxBytes: number) {}

  push(data: Buffer): void {
    this.bytes += data.length;
    const room = Math.min(this.maxBytes / 2 - this.headBytes, data.length);
    if (room > 0) this.head.push(data.subarray(0, room));
    this.headBytes += Math.max(room, 0);
    const rest = data.subarray(Math.max(room, 0));
    if (rest.length > 0) this.keepEnd(rest);
  }

  /** The kept output, with `note` between beginning and end; `note` gets the number of bytes left out. */
  text(note: (omittedBytes: number) => string): string {
    const tail = Buffer.concat(this.tail).subarray(-this.maxBytes / 2);
    const omitted = this.bytes - this.headBytes - tail.length;
    if (omitted <= 0) return Buffer.concat([...this.head, tail]).toString('utf8');
    const [head, end] = [wholeEnd(Buffer.concat(this.head)), wholeStart(tail)];
    const left = this.bytes - head.length - end.length;
    return `${head.toString('utf8')}${note(left)}${end.toString('utf8')}`;
  }

  private keepEnd(data: Buffer): void {
    this.tail.push(data);
    this.tailBytes += data.length;
    // Joined only occasionally: a flood comes in small pieces.
    if (this.tailBytes <= this.maxBytes) return;
    this.tail = [Buffer.from(Buffer.concat(this.tail).subarray(-this.maxBytes / 2))];
    this.tailBytes = this.tail[0]?.length ?? 0;
  }
}

/** The text, or its beginning and end with a note about what is left out. */
export function clipText(text: string, maxBytes: number, advice = ''): string {
  const kept = new HeadTail(maxBytes);
  kept.push(Buffer.from(text));
  return kept.text(omissionNote(advice));
}

export const omissionNote =
  (advice = '') =>
  (bytes: number): string =>
    `\n[${bytes} bytes omitted${advice}]\n`;

const isContinuation = (byte: number | undefined): boolean => ((byte ?? 0) & 0xc0) === 0x80;

/** Drops an incomplete UTF-8 sequence at the end (RFC 3629). */
function wholeEnd(data: Buffer): Buffer {
  let lead = data.length - 1;
  while (lead > 0 && lead > data.length - 4 && isContinuation(data[lead])) lead -= 1;
  const byte = data[lead] ?? 0;
  const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
  return lead + needed > data.length ? data.subarray(0, lead) : data;
}

function wholeStart(data: Buffer): Buffer {
  let start = 0;
  while (start < 3 && isContinuation(data[start])) start += 1;
  return data.subarray(start);
}

// Hides values in a stream of bytes, wherever the stream is cut: what may be the beginning of a value is held back.
import { secretPlaceholder } from '../../contracts/secrets';

interface Pattern {
  bytes: Buffer;
  mask: Buffer;
}

interface Place {
  from: number;
  to: number;
  mask: Buffer;
}

const NOTHING = Buffer.alloc(0);

export class SecretMask {
  private patterns: Pattern[] = [];
  /** The end of the stream, as long as it may be the beginning of a value; shorter than the longest one. */
  private held: Buffer = NOTHING;
  /** So many of the bytes held are part of a value whose mask is out already. */
  private covered = 0;

  /** From now on: what has passed has passed. */
  add(name: string, value: string): void {
    const mask = Buffer.from(secretPlaceholder(name));
    // A terminal prints line ends as CR LF.
    const texts = new Set([value, value.replaceAll(/\r?\n/g, '\r\n'), value.replaceAll('\r\n', '\n')]);
    for (const text of texts) {
      const bytes = Buffer.from(text);
      if (!this.patterns.some((known) => known.bytes.equals(bytes))) this.patterns.push({ bytes, mask });
    }
  }

  /** Returns what may be shown by now. */
  push(chunk: Buffer): Buffer {
    if (this.patterns.length === 0) return chunk;
    const data = this.held.length > 0 ? Buffer.concat([this.held, chunk]) : chunk;
    return this.release(data, data.length - this.unfinished(data));
  }

  /** At the end of the stream: `last`, and what was held back. */
  end(last: Buffer = NOTHING): Buffer {
    const shown = this.push(last);
    const rest = this.release(this.held, this.held.length);
    return rest.length > 0 ? Buffer.concat([shown, rest]) : shown;
  }

  /** A text by itself. */
  text(text: string): string {
    const data = Buffer.from(text);
    if (!this.patterns.some(({ bytes }) => data.includes(bytes))) return text;
    const alone = new SecretMask();
    alone.patterns = this.patterns;
    return alone.end(data).toString('utf8');
  }

  /** All texts of a JSON value, names of its fields too. */
  value<T>(value: T): T {
    if (this.patterns.length === 0) return value;
    return this.masked(value) as T;
  }

  private masked(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value);
    if (Array.isArray(value)) return value.map((item) => this.masked(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [this.text(key), this.masked(item)]),
    );
  }

  /** Shows `data` up to `end`; what lies behind is held. Values that overlap become one mask. */
  private release(data: Buffer, end: number): Buffer {
    const parts: Buffer[] = [];
    let done = this.covered;
    for (const { from, to, mask } of this.places(data)) {
      // A longer value may begin before it, and end behind what is here yet.
      if (from > end) break;
      if (to <= done) continue;
      if (from >= done) parts.push(data.subarray(done, from), mask);
      done = to;
    }
    if (done < end) parts.push(data.subarray(done, end));
    // A copy: the chunk that it came in may be large.
    this.held = Buffer.from(data.subarray(end));
    this.covered = Math.max(0, done - end);
    return Buffer.concat(parts);
  }

  /** Where the values are, in the order of their beginnings, the longest first. */
  private places(data: Buffer): Place[] {
    const all: Place[] = [];
    for (const { bytes, mask } of this.patterns)
      for (let from = data.indexOf(bytes); from >= 0; from = data.indexOf(bytes, from + 1))
        all.push({ from, to: from + bytes.length, mask });
    return all.sort((a, b) => a.from - b.from || b.to - a.to);
  }

  /** Length of the longest end of `data` that begins a value and is not one yet. */
  private unfinished(data: Buffer): number {
    let longest = 0;
    for (const { bytes } of this.patterns) {
      for (let n = Math.min(bytes.length - 1, data.length); n > longest; n--)
        if (data.compare(bytes, 0, n, data.length - n) === 0) longest = n;
    }
    return longest;
  }
}

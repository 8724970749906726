// Masks values in a stream of bytes, wherever the stream is cut: a possible beginning of a value is held back.
import { secretPlaceholder } from '../../contracts/tools/secrets';

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
  /** The tail of the stream that may be the beginning of a value; shorter than the longest value. */
  private held: Buffer = NOTHING;
  /** How many of the held bytes belong to a value whose mask was already released. */
  private covered = 0;

  /** Takes effect from now on, not for earlier output. */
  add(name: string, value: string): void {
    const mask = Buffer.from(secretPlaceholder(name));
    // A terminal prints line ends as CR LF.
    const texts = new Set([value, value.replaceAll(/\r?\n/g, '\r\n'), value.replaceAll('\r\n', '\n')]);
    for (const text of texts) {
      const bytes = Buffer.from(text);
      if (!this.patterns.some((known) => known.bytes.equals(bytes))) this.patterns.push({ bytes, mask });
    }
  }

  /** Returns what can be shown so far. */
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

  /** A complete text, independent of the stream. */
  text(text: string): string {
    const data = Buffer.from(text);
    if (!this.patterns.some(({ bytes }) => data.includes(bytes))) return text;
    const alone = new SecretMask();
    alone.patterns = this.patterns;
    return alone.end(data).toString('utf8');
  }

  /** All strings in a JSON value, including field names. */
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

  /** Releases `data` up to `end` and holds the rest. Overlapping values become one mask. */
  private release(data: Buffer, end: number): Buffer {
    const parts: Buffer[] = [];
    let done = this.covered;
    for (const { from, to, mask } of this.places(data)) {
      // A longer value may begin before it and end beyond the data so far.
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

  /** Where the values are, ordered by start, longest first. */
  private places(data: Buffer): Place[] {
    const all: Place[] = [];
    for (const { bytes, mask } of this.patterns)
      for (let from = data.indexOf(bytes); from >= 0; from = data.indexOf(bytes, from + 1))
        all.push({ from, to: from + bytes.length, mask });
    return all.sort((a, b) => a.from - b.from || b.to - a.to);
  }

  /** Length of the longest suffix of `data` that begins a value without completing it. */
  private unfinished(data: Buffer): number {
    let longest = 0;
    for (const { bytes } of this.patterns) {
      for (let n = Math.min(bytes.length - 1, data.length); n > longest; n--)
        if (data.compare(bytes, 0, n, data.length - n) === 0) longest = n;
    }
    return longest;
  }
}

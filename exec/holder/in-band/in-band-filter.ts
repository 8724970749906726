// Cuts script calls out of a terminal's output: `<<TOOL_CALL>>{"nonce":"…",…}<<END_TOOL_CALL>>`. Everything else passes
// byte for byte, in order. Only what starts like a frame with a secret of this session is held back.

export const CALL_MARK = '<<TOOL_CALL>>';
const CALL_END = '<<END_TOOL_CALL>>';
/** Room for 1 MB of arguments, even if JSON escapes half of them. */
export const MAX_FRAME_BYTES = 4 * 1024 * 1024;

const MARK = Buffer.from(CALL_MARK);
const END = Buffer.from(CALL_END);
/** Text between the mark and the nonce: JSON allows spaces there, but few are needed. */
const MAX_HEAD_BYTES = 96;
const HEAD = ['{', '"nonce"', ':', '"'];
const NONCE = /^[0-9a-f]{32}"/;
const NONCE_BEGIN = /^[0-9a-f]{0,32}$/;

export interface FilterOptions {
  /** Whether a frame with this nonce may be a call. */
  isSecret(nonce: string): boolean;
  /** Handles a whole frame. False if it is malformed: it stays text. */
  onFrame(nonce: string, body: Record<string, unknown>): boolean;
  /** A frame with one of our secrets stays text, so the secret is exposed and must be revoked. */
  onSpoilt(nonce: string, reason: string): void;
  /** Text that looks like a frame but has none of our secrets. */
  onLookAlike(): void;
}

/** The frame being received, after its head. */
interface Body {
  nonce: string;
  parts: Buffer[];
  bytes: number;
  /** The last bytes: an end mark may be split across chunks. */
  tail: Buffer;
}

export class InBandFilter {
  private held: Buffer = Buffer.alloc(0);
  private body: Body | null = null;

  constructor(private readonly options: FilterOptions) {}

  /** What is held back: the beginning of a possible frame, or the frame of a script that may call. */
  get holds(): 'nothing' | 'head' | 'body' {
    if (this.body) return 'body';
    return this.held.length > 0 ? 'head' : 'nothing';
  }

  /** Returns the text; passes whole frames to `onFrame`. */
  push(chunk: Buffer): Buffer {
    const texts: Buffer[] = [];
    let rest: Buffer | null = chunk;
    while (rest) rest = this.body ? this.intoBody(this.body, rest, texts) : this.outside(rest, texts);
    return texts.length === 1 ? (texts[0] as Buffer) : Buffer.concat(texts);
  }

  /** Gives up on what is held back: it is text. */
  flush(reason: string): Buffer {
    const texts: Buffer[] = [];
    while (this.holds !== 'nothing') {
      const { held, body } = this;
      this.held = Buffer.alloc(0);
      // Another frame may begin inside the rejected one, and so on.
      texts.push(body ? this.push(this.spoil(body, reason, texts)) : held);
    }
    return Buffer.concat(texts);
  }

  /** Scans up to our first frame. Returns what follows its head. */
  private outside(chunk: Buffer, texts: Buffer[]): Buffer | null {
    const data = this.held.length > 0 ? Buffer.concat([this.held, chunk]) : chunk;
    this.held = Buffer.alloc(0);
    let from = 0;
    for (let at = data.indexOf(MARK); at >= 0; at = data.indexOf(MARK, at + MARK.length)) {
      const head = headAt(data, at + MARK.length);
      if (head === 'unfinished') return this.hold(data, from, at, texts);
      const { nonce } = head;
      if (nonce !== null && this.options.isSecret(nonce)) {
        texts.push(data.subarray(from, at));
        this.body = { nonce, parts: [], bytes: 0, tail: Buffer.alloc(0) };
        return data.subarray(at + MARK.length);
      }
      texts.push(data.subarray(from, at + MARK.length));
      from = at + MARK.length;
      this.options.onLookAlike();
    }
    return this.hold(data, from, data.length - partialMarkAtEnd(data.subarray(from)), texts);
  }

  private hold(data: Buffer, from: number, at: number, texts: Buffer[]): null {
    texts.push(data.subarray(from, at));
    // A copy: the chunk that it came in may be large.
    this.held = Buffer.from(data.subarray(at));
    return null;
  }

  /** Returns what follows the frame; null while its end is missing. */
  private intoBody(body: Body, chunk: Buffer, texts: Buffer[]): Buffer | null {
    const joined = Buffer.concat([body.tail, chunk]);
    const found = joined.indexOf(END);
    // Relative to the start of the chunk: an end mark may begin before it.
    const end = found < 0 ? chunk.length : found - body.tail.length;
    body.parts.push(chunk);
    const length = body.bytes + end;
    body.bytes += chunk.length;
    body.tail = joined.subarray(-(END.length - 1));
    if (length > MAX_FRAME_BYTES) return this.spoil(body, 'it is too long', texts);
    if (found < 0) return null;
    const all = Buffer.concat(body.parts);
    const value = parsed(all.toString('utf8', 0, length));
    if (!value || !this.options.onFrame(body.nonce, value))
      return this.spoil(body, 'it is not a call', texts);
    this.body = null;
    return all.subarray(length + END.length);
  }

  /** The mark becomes text, and the rest is scanned again: another frame may begin in it. */
  private spoil(body: Body, reason: string, texts: Buffer[]): Buffer {
    this.body = null;
    this.options.onSpoilt(body.nonce, reason);
    texts.push(MARK);
    return Buffer.concat(body.parts);
  }
}

/** What follows a mark: a nonce, no nonce, or an unfinished prefix. */
type Head = { nonce: string | null } | 'unfinished';

function headAt(data: Buffer, at: number): Head {
  const head = data.toString('latin1', at, at + MAX_HEAD_BYTES);
  const unfinished: Head = head.length < MAX_HEAD_BYTES ? 'unfinished' : { nonce: null };
  let rest = head;
  for (const token of HEAD) {
    rest = rest.replace(/^[ \t]+/, '');
    if (!rest.startsWith(token)) return token.startsWith(rest) ? unfinished : { nonce: null };
    rest = rest.slice(token.length);
  }
  if (NONCE.test(rest)) return { nonce: rest.slice(0, 32) };
  return NONCE_BEGIN.test(rest) ? unfinished : { nonce: null };
}

function partialMarkAtEnd(data: Buffer): number {
  for (let n = Math.min(MARK.length - 1, data.length); n > 0; n--)
    if (data.subarray(data.length - n).equals(MARK.subarray(0, n))) return n;
  return 0;
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // The return value says so.
  }
  return undefined;
}

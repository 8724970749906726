// Cuts the calls of scripts out of what a terminal prints: `<<TOOL_CALL>>{"nonce":"…",…}<<END_TOOL_CALL>>`. All else
// passes byte for byte and in order. Only what begins as a frame with a secret of this session is held back.

export const CALL_MARK = '<<TOOL_CALL>>';
const CALL_END = '<<END_TOOL_CALL>>';
/** Arguments of 1 MB, also where JSON escapes half of them. */
export const MAX_FRAME_BYTES = 4 * 1024 * 1024;

const MARK = Buffer.from(CALL_MARK);
const END = Buffer.from(CALL_END);
/** What stands between the mark and the nonce: JSON may have spaces there, but not many. */
const MAX_HEAD_BYTES = 96;
const HEAD = ['{', '"nonce"', ':', '"'];
const NONCE = /^[0-9a-f]{32}"/;
const NONCE_BEGIN = /^[0-9a-f]{0,32}$/;

export interface FilterOptions {
  /** Whether a frame with this nonce may be a call. */
  isSecret(nonce: string): boolean;
  /** Takes a whole frame. False for one that is not well-formed: it stays text. */
  onFrame(nonce: string, body: Record<string, unknown>): boolean;
  /** A frame with a secret of ours stays text, so that the secret is none any more. */
  onSpoilt(nonce: string, reason: string): void;
  /** Text that looks like a frame and has no secret of ours. */
  onLookAlike(): void;
}

/** The frame that is just coming in, behind its head. */
interface Body {
  nonce: string;
  parts: Buffer[];
  bytes: number;
  /** The last bytes: an end may be split. */
  tail: Buffer;
}

export class InBandFilter {
  private held: Buffer = Buffer.alloc(0);
  private body: Body | null = null;

  constructor(private readonly options: FilterOptions) {}

  /** What is kept back: the beginning of what may be a frame, or a frame of a script that may call. */
  get holds(): 'nothing' | 'head' | 'body' {
    if (this.body) return 'body';
    return this.held.length > 0 ? 'head' : 'nothing';
  }

  /** Returns what is text; hands whole frames over. */
  push(chunk: Buffer): Buffer {
    const texts: Buffer[] = [];
    let rest: Buffer | null = chunk;
    while (rest) rest = this.body ? this.intoBody(this.body, rest, texts) : this.outside(rest, texts);
    return texts.length === 1 ? (texts[0] as Buffer) : Buffer.concat(texts);
  }

  /** Gives up on what is kept back: it is text. */
  flush(reason: string): Buffer {
    const texts: Buffer[] = [];
    while (this.holds !== 'nothing') {
      const { held, body } = this;
      this.held = Buffer.alloc(0);
      // In what was a frame another one may begin, and so on.
      texts.push(body ? this.push(this.spoil(body, reason, texts)) : held);
    }
    return Buffer.concat(texts);
  }

  /** Up to the first frame of ours. Returns what comes behind its head. */
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

  /** Returns what comes behind the frame; null while its end is not there. */
  private intoBody(body: Body, chunk: Buffer, texts: Buffer[]): Buffer | null {
    const joined = Buffer.concat([body.tail, chunk]);
    const found = joined.indexOf(END);
    // Counted from where the chunk begins: an end may have begun before it.
    const end = found < 0 ? chunk.length : found - body.tail.length;
    body.parts.push(chunk);
    const length = body.bytes + end;
    body.bytes += chunk.length;
    body.tail = joined.subarray(-(END.length - 1));
    if (length > MAX_FRAME_BYTES) return this.spoil(body, 'it is too long', texts);
    if (found < 0) return null;
    const all = Buffer.concat(body.parts);
    const value = parsed(all.toString('utf8', 0, length));
    if (!value || !this.options.onFrame(body.nonce, value)) return this.spoil(body, 'it is no call', texts);
    this.body = null;
    return all.subarray(length + END.length);
  }

  /** The mark becomes text, and what is behind it is looked at anew: another frame may begin in it. */
  private spoil(body: Body, reason: string, texts: Buffer[]): Buffer {
    this.body = null;
    this.options.onSpoilt(body.nonce, reason);
    texts.push(MARK);
    return Buffer.concat(body.parts);
  }
}

/** What follows a mark: a nonce, or none, or what may become one. */
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
    // Told by what is returned.
  }
  return undefined;
}

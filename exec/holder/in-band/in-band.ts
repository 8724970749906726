// Calls of scripts that only the terminal reaches (ssh, the shell of a container), for one command of a session: frames
// in its output, typed answers. A caller shows a secret: once, the ticket of the bootstrap line; then the nonce, which
// is never printed. A secret that is printed anyway becomes void.
import { randomBytes } from 'node:crypto';
import { HoldfastError, asHoldfastError } from '../../../contracts/errors/holdfast-error';
import type { ScriptAnswer } from '../../protocol';
import { InBandFilter } from './in-band-filter';
import { bootstrapLine, bootstrapScript } from './in-band-line';

/** Time for a person to find the right window and paste. */
const TICKET_MS = 10 * 60_000;
/** An echoed ticket is shown by the same line at once, or never. */
const ECHOED_TICKET_MS = 10_000;
/** A frame arrives in one piece, but a slow network may split it. */
const HEAD_MS = 2_000;
const BODY_MS = 30_000;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
const LOG_EVERY_MS = 60_000;
const NONCE_BYTES = 16;
const ID_PATTERN = /^[\w.-]{1,64}$/;

type Use = 'line' | 'connect' | 'calls';

export interface InBandOptions {
  /** Makes a call of the session. */
  call(body: unknown, gone: AbortSignal): Promise<ScriptAnswer>;
  /** Types bytes as they are, in order and whole. False if so many of them are unread that it has dropped them. */
  type(bytes: Buffer): boolean;
  /** Receives text that was held back and turned out not to be a frame. */
  release(text: Buffer): void;
  log(message: string): void;
}

export class InBand {
  private readonly secrets = new Map<string, { use: Use; until: number }>();
  private readonly calls = new Map<string, AbortController>();
  private readonly filter: InBandFilter;
  private readonly connected = new Set<(isConnected: boolean) => void>();
  private recent = Buffer.alloc(0);
  private timer: NodeJS.Timeout | undefined;
  private lookAlikes = 0;
  private loggedAt = -Infinity;
  private isOver = false;

  constructor(private readonly options: InBandOptions) {
    this.filter = new InBandFilter({
      isSecret: (nonce) => (this.secrets.get(nonce)?.until ?? 0) > performance.now(),
      onFrame: (nonce, body) => this.onFrame(nonce, body),
      onSpoilt: (nonce, reason) => this.revoke(nonce, `a frame with it was not a call: ${reason}`),
      onLookAlike: () => this.onLookAlike(),
    });
  }

  /** A call is open: the program waits for its answer, not for typing. */
  get isCalling(): boolean {
    return this.calls.size > 0;
  }

  /**
   * Returns a new bootstrap line and voids the one before. A connected shell stays connected until another connects.
   */
  newLine(): string {
    return bootstrapLine(this.issue('line', TICKET_MS));
  }

  /** Resolves when the next shell is connected and accepts typing again; false if `over` or `disarm` comes first. */
  untilConnected(over: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const settle = (isConnected: boolean): void => {
        this.connected.delete(settle);
        over.removeEventListener('abort', onOver);
        resolve(isConnected);
      };
      const onOver = (): void => settle(false);
      this.connected.add(settle);
      over.addEventListener('abort', onOver, { once: true });
      if (over.aborted) onOver();
    });
  }

  /** Returns the part of the output that is text. */
  pass(data: Buffer): Buffer {
    clearTimeout(this.timer);
    const text = this.filter.push(data);
    this.watchFor(text);
    const { holds } = this.filter;
    if (holds !== 'nothing')
      this.timer = setTimeout(() => this.giveUp(), holds === 'head' ? HEAD_MS : BODY_MS);
    return text;
  }

  /** Calls are over; returns what was held back. Answers still to come are not typed. */
  end(): Buffer {
    this.isOver = true;
    const text = this.filter.flush('its command has ended');
    this.disarm();
    this.logLookAlikes();
    return text;
  }

  /** Calls are over; waiting callers get an error that says so. */
  disarm(): void {
    clearTimeout(this.timer);
    this.secrets.clear();
    for (const call of this.calls.values()) call.abort();
    this.settle(false);
  }

  private settle(isConnected: boolean): void {
    for (const settle of [...this.connected]) settle(isConnected);
  }

  private issue(use: Use, ms = Infinity): string {
    for (const [secret, { use: other }] of this.secrets) if (other === use) this.secrets.delete(secret);
    const secret = randomBytes(NONCE_BYTES).toString('hex');
    this.secrets.set(secret, { use, until: performance.now() + ms });
    return secret;
  }

  private onFrame(nonce: string, body: Record<string, unknown>): boolean {
    const use = this.secrets.get(nonce)?.use;
    if (use === 'line') {
      this.secrets.delete(nonce);
      this.options.type(Buffer.from(bootstrapScript(this.issue('connect', TICKET_MS))));
      return true;
    }
    const { id, cancel, ready, tool } = body;
    if (typeof id !== 'string' || !ID_PATTERN.test(id)) return false;
    if (use === 'connect') return this.connect(nonce, id);
    if (cancel === true) return this.cancel(id);
    if (ready === true) {
      this.settle(true);
      return true;
    }
    if (typeof tool !== 'string' || this.calls.has(id)) return false;
    void this.call(id, body);
    return true;
  }

  private connect(ticket: string, id: string): boolean {
    this.secrets.delete(ticket);
    const nonce = this.issue('calls');
    this.reply({ id, data: base64({ nonce }) });
    return true;
  }

  private async call(id: string, { tool, args, cwd }: Record<string, unknown>): Promise<void> {
    const gone = new AbortController();
    this.calls.set(id, gone);
    this.reply({ id, accepted: true });
    const data = await this.answerTo({ tool, args, cwd }, gone.signal);
    // The caller has cancelled and left: the answer would be typed into whatever reads next.
    if (this.calls.get(id) !== gone) return;
    this.calls.delete(id);
    this.reply({ id, data });
  }

  /** A call that cannot be taken is answered too: its caller would wait for ever. */
  private async answerTo(
    call: { tool: unknown; args: unknown; cwd: unknown },
    gone: AbortSignal,
  ): Promise<string> {
    try {
      const answer = await this.options.call(call, gone);
      const data = base64(answer);
      return data.length <= MAX_ANSWER_BYTES ? data : base64(tooLarge(answer, String(call.tool), data));
    } catch (err) {
      return base64({ callId: null, ...asHoldfastError(err).toOutcome() } satisfies ScriptAnswer);
    }
  }

  private cancel(id: string): boolean {
    const call = this.calls.get(id);
    this.calls.delete(id);
    call?.abort();
    this.reply({ id, cancelled: true });
    return true;
  }

  /** Base64 of JSON, so that nothing in it means anything to a shell, which may read it if the reader was killed. */
  private reply(body: object): void {
    if (this.isOver) return;
    const frame = Buffer.from(`<<TOOL_RESULT>>${JSON.stringify(body)}<<END_TOOL_RESULT>>\n`);
    if (this.options.type(frame)) return;
    for (const secret of this.secrets.keys()) this.revoke(secret, 'its caller reads no answers');
    this.disarm();
    // Their ends would only be more that is not read.
    this.calls.clear();
  }

  private giveUp(): void {
    const text = this.filter.flush('its end never arrived');
    this.watchFor(text);
    if (text.length > 0) this.options.release(text);
  }

  /** No secret in the transcript may be of use to its readers. */
  private watchFor(text: Buffer): void {
    if (text.length === 0) return;
    const seen = Buffer.concat([this.recent, text]);
    this.recent = Buffer.from(seen.subarray(-(NONCE_BYTES * 2 - 1)));
    for (const [secret, { use, until }] of this.secrets) {
      if (!seen.includes(secret)) continue;
      if (use === 'line')
        this.secrets.set(secret, { use, until: Math.min(until, performance.now() + ECHOED_TICKET_MS) });
      else this.revoke(secret, 'it was printed');
    }
  }

  private revoke(secret: string, reason: string): void {
    if (this.secrets.delete(secret))
      this.options.log(`a nonce for calls through the terminal is void: ${reason}; connect the shell again`);
  }

  private onLookAlike(): void {
    this.lookAlikes += 1;
    if (performance.now() - this.loggedAt >= LOG_EVERY_MS) this.logLookAlikes();
  }

  private logLookAlikes(): void {
    if (this.lookAlikes === 0) return;
    this.options.log(
      `text that looks like a tool call, without a valid nonce, stays text: ${this.lookAlikes} times`,
    );
    this.lookAlikes = 0;
    this.loggedAt = performance.now();
  }
}

const base64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64');

function tooLarge({ callId }: ScriptAnswer, tool: string, { length }: string): ScriptAnswer {
  const facts = { tool, got: Math.ceil(length * 0.75), allowed: MAX_ANSWER_BYTES * 0.75 };
  return { callId, ...new HoldfastError('result_too_large', facts).toOutcome() };
}

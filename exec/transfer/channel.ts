// One stream of messages and bytes in each direction, in frames: a length (4 bytes, big endian), a kind (1 byte), then
// JSON or bytes. The sender waits until the other side accepts more.
import type { Readable, Writable } from 'node:stream';
import { HoldfastError, isErrorCode, reasonOf } from '../../contracts/errors/holdfast-error';
import type { Message } from './transfer-messages';

const HEAD_BYTES = 5;
const MESSAGE = 0;
const DATA = 1;
const MAX_MESSAGE_BYTES = 64 * 1024;
export const PULSE_MS = 3_000;
/** A pulled cable ends no connection: after this many pulses in which nothing came, this side does. */
export const SILENT_PULSES = 5;

/** The other side is gone: what was under way is neither done nor refused. */
export class ChannelLost extends Error {
  override name = 'ChannelLost';
}

export type Said = Message | { is: 'data'; data: Buffer };

export class Channel {
  private readonly said: AsyncGenerator<Said>;
  private readonly pulse: NodeJS.Timeout;
  private silent = 0;
  private hasSent = false;
  private isWaiting = false;

  constructor(
    private readonly input: Readable,
    private readonly output: Writable,
  ) {
    this.said = this.frames();
    output.on('error', () => input.destroy());
    // Counted, not timed: this process may have been suspended itself.
    this.pulse = setInterval(() => this.beat(), PULSE_MS).unref();
  }

  async send(message: Message): Promise<void> {
    await this.write(MESSAGE, bodyOf(message));
  }

  async sendData(data: Buffer): Promise<void> {
    await this.write(DATA, data);
  }

  /** What came next. Throws `ChannelLost` at the end, and the error of a `fatal`. */
  async next(): Promise<Said> {
    this.isWaiting = true;
    try {
      const next: IteratorResult<Said, unknown> = await this.said.next();
      if (next.done === true) throw new ChannelLost('the connection was lost');
      if (next.value.is === 'fatal') throw received(next.value.error);
      return next.value;
    } catch (err) {
      throw err instanceof HoldfastError || err instanceof ChannelLost ? err : new ChannelLost(reasonOf(err));
    } finally {
      this.isWaiting = false;
    }
  }

  /** Ends this side once all is written. */
  async end(): Promise<void> {
    clearInterval(this.pulse);
    if (!this.output.destroyed)
      await new Promise<void>((resolve) => this.output.once('close', resolve).end(resolve));
  }

  close(): void {
    clearInterval(this.pulse);
    this.input.destroy();
    this.output.destroy();
  }

  private async *frames(): AsyncGenerator<Said> {
    const cutter = new FrameCutter();
    for await (const chunk of this.input as AsyncIterable<Buffer>) {
      this.silent = 0;
      cutter.push(chunk);
      for (let said = cutter.next(); said; said = cutter.next()) if (said.is !== 'pulse') yield said;
    }
  }

  /** Bytes are waited for until they are gone: their buffer is used again. */
  private async write(kind: number, body: Buffer): Promise<void> {
    const { output } = this;
    if (output.destroyed || output.writableEnded) throw new ChannelLost('the connection was lost');
    this.hasSent = true;
    output.cork();
    output.write(headOf(kind, body));
    const written = new Promise<void>((resolve, reject) => {
      const goesOn = output.write(body, (err) => (err ? reject(new ChannelLost(reasonOf(err))) : resolve()));
      if (kind === MESSAGE && goesOn) resolve();
    });
    output.uncork();
    await written;
  }

  private beat(): void {
    if (!this.hasSent && !this.output.writableNeedDrain)
      void this.send({ is: 'pulse' }).catch(() => undefined);
    this.hasSent = false;
    // This side has something else to do, and hears nothing of its own accord.
    if (!this.isWaiting) this.silent = 0;
    else if (this.silent++ >= SILENT_PULSES)
      this.input.destroy(new ChannelLost('the other side has fallen silent'));
  }
}

function headOf(kind: number, { length }: Buffer): Buffer {
  const head = Buffer.allocUnsafe(HEAD_BYTES);
  head.writeUInt32BE(length);
  head.writeUInt8(kind, HEAD_BYTES - 1);
  return head;
}

const bodyOf = (message: Message): Buffer => Buffer.from(JSON.stringify(message));

/** A frame, for callers without a channel. */
export function encodeMessage(message: Message): Buffer {
  const body = bodyOf(message);
  return Buffer.concat([headOf(MESSAGE, body), body]);
}

/** Cuts what comes into frames. Bytes are handed on in the pieces that they come in. Throws if a frame is none of ours. */
class FrameCutter {
  private rest: Buffer = Buffer.alloc(0);
  /** What the frame of bytes under way still lacks. */
  private dataLeft = 0;

  push(chunk: Buffer): void {
    this.rest = this.rest.length === 0 ? chunk : Buffer.concat([this.rest, chunk]);
  }

  /** Undefined until more has come. */
  next(): Said | undefined {
    if (this.dataLeft > 0) return this.piece();
    const { rest } = this;
    if (rest.length < HEAD_BYTES) return undefined;
    const length = rest.readUInt32BE(0);
    if (rest.readUInt8(HEAD_BYTES - 1) === DATA) {
      this.dataLeft = length;
      this.rest = rest.subarray(HEAD_BYTES);
      return this.next();
    }
    if (length > MAX_MESSAGE_BYTES) throw new ChannelLost(`a message of ${length} bytes came`);
    if (rest.length < HEAD_BYTES + length) return undefined;
    this.rest = rest.subarray(HEAD_BYTES + length);
    return messageOf(rest.subarray(HEAD_BYTES, HEAD_BYTES + length));
  }

  private piece(): Said | undefined {
    if (this.rest.length === 0) return undefined;
    const data = this.rest.subarray(0, this.dataLeft);
    this.rest = this.rest.subarray(data.length);
    this.dataLeft -= data.length;
    return { is: 'data', data };
  }
}

function messageOf(body: Buffer): Message {
  const message = JSON.parse(body.toString('utf8')) as Message | null;
  if (typeof message?.is !== 'string') throw new ChannelLost('what came is no message');
  return message;
}

export function received({ code, facts }: { code?: unknown; facts?: unknown } = {}): Error {
  if (typeof code !== 'string' || !isErrorCode(code)) return new ChannelLost('it does not say why');
  return HoldfastError.received(code, (facts ?? {}) as Record<string, string>);
}

// Keeps the requests of a connection within what its answers, or the requests forwarded for it, can absorb.
import type { Socket } from 'node:net';
import type { FrameDecoder } from './protocol';

/** Stops reading `from` until `to` has drained. Call it after `write` has returned false. */
export function readOnceWritten(from: Socket, to: Socket): void {
  if (from.isPaused()) return;
  from.pause();
  to.once('drain', () => from.resume());
}

/** Bounds the unfinished frames of all connections together. */
export class UnfinishedFrames {
  private held = 0;

  constructor(private readonly maxBytes: number) {}

  /** The frames completed by this chunk. Throws if all connections together hold too much, or like the decoder. */
  push<T>(decoder: FrameDecoder<T>, chunk: Buffer): T[] {
    const before = decoder.heldBytes;
    try {
      const frames = decoder.push(chunk);
      if (this.held + decoder.heldBytes - before > this.maxBytes)
        throw new Error(`more than ${this.maxBytes} bytes of unfinished frames`);
      return frames;
    } finally {
      this.held += decoder.heldBytes - before;
    }
  }

  /** Call when the decoder's connection is gone. */
  release(decoder: FrameDecoder<unknown>): void {
    this.held -= decoder.heldBytes;
  }
}

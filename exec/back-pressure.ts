// Keeps what a connection asks within what its answers, or what its requests are handed on to, can take.
import type { Socket } from 'node:net';
import type { FrameDecoder } from './protocol';

/** Reads no more of `from` until `to` has written what it was given: for where `write` has returned false. */
export function readOnceWritten(from: Socket, to: Socket): void {
  if (from.isPaused()) return;
  from.pause();
  to.once('drain', () => from.resume());
}

/** What many connections have sent of frames that are not whole yet: together they may hold so much. */
export class UnfinishedFrames {
  private held = 0;

  constructor(private readonly maxBytes: number) {}

  /** The frames that are whole with this chunk. Throws where all hold too much, and as the decoder does. */
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

  /** Its connection is gone. */
  release(decoder: FrameDecoder<unknown>): void {
    this.held -= decoder.heldBytes;
  }
}

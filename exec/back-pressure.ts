// Keeps what a connection asks within what its answers, or what its requests are handed on to, can take.
import type { Socket } from 'node:net';

/** Reads no more of `from` until `to` has written what it was given: for where `write` has returned false. */
export function readOnceWritten(from: Socket, to: Socket): void {
  if (from.isPaused()) return;
  from.pause();
  to.once('drain', () => from.resume());
}

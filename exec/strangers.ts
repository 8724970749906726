// Connections whose other side has not said yet who it is. Their number and their time are limited. One too many ends the
// oldest: a client that has a token shows it at once, and a flood does not. They take no place of those that are known.
import type { Socket } from 'node:net';

interface StrangersOptions {
  max: number;
  /** In milliseconds. */
  identifyWithinMs: number;
  /** Called before the oldest is ended for one too many. */
  onCrowded?: (oldest: Socket) => void;
}

/** By a key of the caller's, where a connection becomes another socket on its way. */
export class Strangers<Key = Socket> {
  /** The oldest first. */
  private readonly waiting = new Map<Key, Socket>();

  constructor(private readonly options: StrangersOptions) {}

  admit(socket: Socket, key: Key): void {
    const { max, identifyWithinMs, onCrowded } = this.options;
    const isWaiting = (): boolean => this.waiting.get(key) === socket;
    const late = setTimeout(() => isWaiting() && socket.destroy(), identifyWithinMs).unref();
    this.waiting.set(key, socket);
    socket.once('close', () => {
      clearTimeout(late);
      if (isWaiting()) this.waiting.delete(key);
    });
    const [first] = this.waiting;
    if (this.waiting.size <= max || !first) return;
    const [oldestKey, oldest] = first;
    onCrowded?.(oldest);
    this.waiting.delete(oldestKey);
    oldest.destroy();
  }

  /** It has said who it is. */
  know(key: Key): void {
    this.waiting.delete(key);
  }

  end(): void {
    for (const socket of this.waiting.values()) socket.destroy();
  }
}

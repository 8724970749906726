// Connections that have not identified themselves yet. Their number and their time are limited. At the limit the oldest
// is ended: a client with a token shows it at once, and a flood does not. They do not take slots from known
// connections.
import type { Socket } from 'node:net';

interface StrangersOptions {
  max: number;
  /** In milliseconds. */
  identifyWithinMs: number;
  /** Called before the oldest is ended at the limit. */
  onCrowded?: (oldest: Socket) => void;
}

/** Keyed by a caller-supplied key, for connections that change sockets (TLS). */
export class Strangers<Key = Socket> {
  /** Oldest first. */
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

  /** It has identified itself. */
  know(key: Key): void {
    this.waiting.delete(key);
  }

  end(): void {
    for (const socket of this.waiting.values()) socket.destroy();
  }
}

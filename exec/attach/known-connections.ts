// Connections that have shown the host's token. Their number is limited. A laptop that was carried to another network
// leaves a connection behind that is never closed: once there are too many, the kernel asks each whether it is still there. It does
// not ask those to which output is under way: these end after a quarter of an hour, when it has sent that often enough.
import type { Socket } from 'node:net';

/** As long as Linux waits by itself: a person's connection outlives the sleep of a laptop, but not the laptop. */
export const KEEP_ALIVE_MS = 2 * 3_600_000;
/** Then another ten seconds, in which the kernel asks ten times. */
const ASK_AFTER_MS = 1_000;
/** How long after the last refusal it asks so often. */
export const CROWD_MS = 60_000;

export class KnownConnections {
  private readonly open = new Set<Socket>();
  private crowd: NodeJS.Timeout | undefined;

  constructor(private readonly max: number) {}

  /** False at the limit: then it is not one of them. Those that have silently gone are ended a moment later. */
  admit(socket: Socket): boolean {
    if (this.open.size >= this.max) {
      this.ask();
      return false;
    }
    this.open.add(socket);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    socket.once('close', () => this.open.delete(socket));
    return true;
  }

  /** For a moment: a laptop that falls asleep later is to find its connection again. */
  private ask(): void {
    for (const one of this.open) one.setKeepAlive(true, ASK_AFTER_MS);
    clearTimeout(this.crowd);
    this.crowd = setTimeout(() => {
      for (const one of this.open) one.setKeepAlive(true, KEEP_ALIVE_MS);
    }, CROWD_MS).unref();
  }

  end(): void {
    clearTimeout(this.crowd);
    for (const socket of this.open) socket.destroy();
  }
}

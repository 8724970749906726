// The connections through which a session's scripts call tools. Their number is limited; at the limit, an idle one is
// closed to make room.
import type { Socket } from 'node:net';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';

export class ScriptConnections {
  /** How many calls are open on each. */
  private readonly busy = new Map<Socket, number>();
  /** Connections without an open call, longest idle first. */
  private readonly idle = new Set<Socket>();

  constructor(private readonly max: number) {}

  /** A call begins on the connection. Throws `budget_exceeded` if all connections are busy. */
  callBegins(socket: Socket): void {
    const open = this.busy.get(socket);
    if (open === undefined && !this.idle.has(socket)) this.admit(socket);
    this.idle.delete(socket);
    this.busy.set(socket, (open ?? 0) + 1);
  }

  callEnds(socket: Socket): void {
    const open = this.busy.get(socket);
    // The connection is gone.
    if (open === undefined) return;
    if (open > 1) return void this.busy.set(socket, open - 1);
    this.busy.delete(socket);
    this.idle.add(socket);
  }

  private admit(socket: Socket): void {
    if (this.busy.size + this.idle.size >= this.max) {
      // Skip those that are still being answered.
      const idlest = [...this.idle].find(({ writableLength }) => writableLength === 0);
      if (!idlest)
        throw new HoldfastError('budget_exceeded', {
          what: 'open connections of scripts',
          got: this.max + 1,
          allowed: this.max,
        });
      this.idle.delete(idlest);
      idlest.destroy();
    }
    socket.once('close', () => {
      this.busy.delete(socket);
      this.idle.delete(socket);
    });
  }
}

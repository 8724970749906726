// A socket file of ours. Something else, such as a cleaner of temporary folders, may remove it while its process lives:
// then it is recreated, with its folder.
import { chmodSync, lstatSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { reasonOf } from '../contracts/errors/holdfast-error';
import { privateFolder } from './session-paths';

export class KeptSocket {
  private server: Server | null = null;
  private inode: number | null = null;
  private isOpening = false;
  private said = '';

  constructor(
    private readonly path: string,
    private readonly serve: (socket: Socket) => void,
  ) {}

  /** Calls `onFailure` if it cannot listen there. */
  listen(onListening: () => void, onFailure: (err: Error) => void): void {
    // A leftover socket file belongs to a dead process: the starter has checked that.
    rmSync(this.path, { force: true });
    const server = createServer(this.serve);
    this.server = server;
    server.once('error', onFailure);
    server.listen(this.path, () => {
      try {
        chmodSync(this.path, 0o600);
        this.inode = lstatSync(this.path).ino;
      } catch (err) {
        // Removed again at once, or its folder is gone.
        return onFailure(err as Error);
      }
      onListening();
    });
  }

  /** Recreates it if it is gone. Open connections stay open. */
  keep(): void {
    if (this.isOpening || this.isThere()) return;
    this.isOpening = true;
    const failed = (err: unknown): void => {
      this.isOpening = false;
      // Log once, not every second.
      if (this.said !== reasonOf(err)) console.error(new Date().toISOString(), this.path, reasonOf(err));
      this.said = reasonOf(err);
    };
    try {
      // Close the old server first: closing removes the file with its name.
      this.server?.close();
      privateFolder(dirname(this.path));
      this.listen(() => (this.isOpening = false), failed);
    } catch (err) {
      failed(err);
    }
  }

  close(): void {
    this.server?.close(() => undefined);
  }

  private isThere(): boolean {
    try {
      return lstatSync(this.path, { throwIfNoEntry: false })?.ino === this.inode;
    } catch {
      // Its folder cannot be read at the moment, so nothing can be created there either.
      return true;
    }
  }
}

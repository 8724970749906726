// The socket file of a holder. Something else may remove it while the holder lives, a cleaner of temporary folders among
// others: then it is made again, with its folder.
import { chmodSync, lstatSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { reasonOf } from '../../contracts/errors';
import { privateFolder } from '../session-paths';

export class HolderSocket {
  private server: Server | null = null;
  private inode: number | null = null;
  private isOpening = false;
  private said = '';

  constructor(
    private readonly path: string,
    private readonly serve: (socket: Socket) => void,
  ) {}

  /** Calls `onFailure` where nobody can listen there. */
  listen(onListening: () => void, onFailure: (err: Error) => void): void {
    // A socket file that is left over belongs to a dead holder: its starter has made sure of that.
    rmSync(this.path, { force: true });
    const server = createServer(this.serve);
    this.server = server;
    server.once('error', onFailure);
    server.listen(this.path, () => {
      chmodSync(this.path, 0o600);
      this.inode = lstatSync(this.path).ino;
      onListening();
    });
  }

  /** Makes it again where it is gone. Connections that are open stay so. */
  keep(): void {
    if (this.isOpening || this.isThere()) return;
    this.isOpening = true;
    const failed = (err: unknown): void => {
      this.isOpening = false;
      // Once, and not every second.
      if (this.said !== reasonOf(err)) console.error(new Date().toISOString(), this.path, reasonOf(err));
      this.said = reasonOf(err);
    };
    try {
      // First: a server that closes removes the file of its name.
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
      // Its folder cannot be looked into at the moment: nothing can be made there either.
      return true;
    }
  }
}

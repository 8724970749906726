// The tool socket as a sandboxed shell sees it: in its own folder, because the socket of its session lies among those
// of others, and because a spare's shell is open before it is known which session it will be.
import { closeSync, constants, openSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';

const NAME = 'tools.sock';
/** As a script inside finds it. */
export const toolSocketIn = (folder: string): string => `${folder}/${NAME}`;

export class ToolSocket {
  private readonly folder: number;
  private readonly server: Server;

  /** Takes connections at once, and hands each of them on to the socket at `path`. */
  constructor(directory: string, path: string) {
    this.folder = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY);
    this.server = createServer((script) => {
      const holder = connect(path);
      script.on('error', () => holder.destroy()).on('close', () => holder.destroy());
      holder.on('error', () => script.destroy()).on('close', () => script.destroy());
      script.pipe(holder).pipe(script);
    });
    this.server.on('error', (err) => console.error(new Date().toISOString(), err));
    // The kernel keeps 108 bytes for the address of a socket, and the folder's path may be longer.
    this.server.listen(toolSocketIn(`/proc/self/fd/${this.folder}`));
  }

  close(): void {
    this.server.close();
    closeSync(this.folder);
  }
}

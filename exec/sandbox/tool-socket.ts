// The tool socket as a sandboxed shell sees it: in its own folder, because the socket of its session lies among those
// of others, and because a spare's shell is open before it is known which session it will be. It hands on calls of
// tools and nothing else: whatever code inside may learn, it steers no session.
import { closeSync, constants, openSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { HoldfastError } from '../../contracts/errors';
import { readOnceWritten } from '../back-pressure';
import { FrameDecoder, encodeFrame, type RequestFrame } from '../protocol';

const NAME = 'tools.sock';
/** As a script inside finds it. */
export const toolSocketIn = (folder: string): string => `${folder}/${NAME}`;

export class ToolSocket {
  private readonly folder: number;
  private readonly server: Server;

  /** Takes connections at once, and hands the calls of each on to the socket at `path`. */
  constructor(directory: string, path: string) {
    this.folder = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY);
    this.server = createServer((script) => {
      const holder = connect(path);
      script.on('error', () => holder.destroy()).on('close', () => holder.destroy());
      holder.on('error', () => script.destroy()).on('close', () => script.destroy());
      script.on('end', () => holder.end());
      holder.pipe(script);
      handOnCalls(script, holder);
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

function handOnCalls(script: Socket, holder: Socket): void {
  const decoder = new FrameDecoder<RequestFrame | null>();
  script.on('data', (chunk: Buffer) => {
    try {
      for (const frame of decoder.push(chunk)) {
        if (frame?.verb !== 'call') return refuse(script, frame);
        // Written anew: what the holder reads is what was looked at.
        if (!holder.write(encodeFrame(frame))) readOnceWritten(script, holder);
      }
    } catch {
      script.destroy();
    }
  });
}

function refuse(script: Socket, frame: RequestFrame | null): void {
  const { code, facts } = new HoldfastError('invalid_input', {
    what: 'A request to the tool socket of a sandbox',
    got: String(frame?.verb),
    allowed: 'call',
  });
  script.removeAllListeners('data').end(encodeFrame({ id: Number(frame?.id), error: { code, facts } }));
}

// The tool socket as a sandboxed shell sees it: in the shell's own folder, because the socket of its session lies among
// those of others, and because a spare's shell is opened before its session is known. It forwards tool calls and
// nothing else: whatever code inside may learn, it cannot control a session. A connection without a call costs the
// holder one descriptor, for at most ten seconds.
import { closeSync, constants, openSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { readOnceWritten, UnfinishedFrames } from '../back-pressure';
import { connectionBounds } from '../../system/processes/descriptors';
import { FrameDecoder, encodeFrame, MAX_UNFINISHED_BYTES, type RequestFrame } from '../protocol';
import { Strangers } from '../strangers';

const NAME = 'tools.sock';
/** Path as seen by a script inside. */
export const toolSocketIn = (folder: string): string => `${folder}/${NAME}`;

export class ToolSocket {
  private readonly folder: number;
  private readonly server: Server;
  private readonly strangers: Strangers;
  private readonly unfinished = new UnfinishedFrames(MAX_UNFINISHED_BYTES);

  /** Accepts connections at once, and forwards the calls of each to the socket at `path`. */
  constructor(
    directory: string,
    private readonly path: string,
    { strangers: max, identifyWithinMs } = connectionBounds(),
  ) {
    this.strangers = new Strangers({ max, identifyWithinMs });
    this.folder = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY);
    this.server = createServer((script) => this.serve(script));
    this.server.on('error', (err) => console.error(new Date().toISOString(), err));
    // A socket address is limited to 108 bytes, and the folder's path may be longer.
    this.server.listen(toolSocketIn(`/proc/self/fd/${this.folder}`));
  }

  close(): void {
    this.server.close();
    closeSync(this.folder);
  }

  private serve(script: Socket): void {
    const decoder = new FrameDecoder<RequestFrame | null>();
    let holder: Socket | undefined;
    this.strangers.admit(script, script);
    script.on('error', () => script.destroy());
    script.on('close', () => {
      holder?.destroy();
      this.unfinished.release(decoder);
    });
    script.on('end', () => holder?.end());
    script.on('data', (chunk: Buffer) => {
      try {
        for (const frame of this.unfinished.push(decoder, chunk)) {
          if (frame?.verb !== 'call') return refuse(script, frame);
          // From here on the holder judges it, by its token.
          this.strangers.know(script);
          holder ??= this.reachHolder(script);
          // Encoded again, so that the holder reads exactly what was checked.
          if (!holder.write(encodeFrame(frame))) readOnceWritten(script, holder);
        }
      } catch {
        script.destroy();
      }
    });
  }

  private reachHolder(script: Socket): Socket {
    const holder = connect(this.path);
    holder.on('error', () => script.destroy()).on('close', () => script.destroy());
    holder.pipe(script);
    return holder;
  }
}

function refuse(script: Socket, frame: RequestFrame | null): void {
  const { code, facts } = new HoldfastError('invalid_input', {
    what: 'A request to the tool socket of a sandbox',
    got: String(frame?.verb),
    allowed: 'call',
  });
  script.removeAllListeners('data').end(encodeFrame({ id: Number(frame?.id), error: { code, facts } }));
}

// The connections to a holder: reads their requests, dispatches them and writes the answers. A token identifies the
// caller: the host, and others with the holder's token, may ask for anything; a script calls tools with the token of
// its command; all others are strangers. However many strangers and scripts connect, there is room left for the host.
import type { Socket } from 'node:net';
import { HoldfastError, asHoldfastError } from '../../../contracts/errors/holdfast-error';
import { readOnceWritten, UnfinishedFrames } from '../../back-pressure';
import { connectionBounds } from '../../../system/processes/descriptors';
import {
  FrameDecoder,
  MAX_UNFINISHED_BYTES,
  encodeFrame,
  type AnswerFrame,
  type RequestFrame,
} from '../../protocol';
import { asStorageFailure } from '../../../system/storage-failure';
import { Strangers } from '../../strangers';
import { ScriptConnections } from './script-connections';

export interface Connection {
  /** Aborts when the other side is gone. */
  gone: AbortSignal;
  /** Waiting requests, by id. */
  waiting: Map<number, AbortController>;
}

interface ConnectionsOptions {
  /** The holder's own token. */
  token: string;
  /** Whether the token belongs to a command whose scripts may call. */
  isScript: (token: string) => boolean;
  /** Answers a request; a script's request is a `call`. */
  perform: (frame: RequestFrame, connection: Connection, cancelled: AbortSignal) => unknown;
  /** From then on requests are not answered. */
  isEnding: () => boolean;
}

/** Answers may be large, and a script that reads none of them must not fill the holder's memory. */
const MAX_UNREAD_BYTES = 256 * 1024 * 1024;

export class Connections {
  private readonly sockets = new Set<Socket>();
  private readonly strangers: Strangers;
  private readonly scripts: ScriptConnections;
  private readonly unfinished = new UnfinishedFrames(MAX_UNFINISHED_BYTES);

  constructor(
    private readonly options: ConnectionsOptions,
    { strangers: max, scripts, identifyWithinMs } = connectionBounds(),
  ) {
    this.strangers = new Strangers({ max, identifyWithinMs });
    this.scripts = new ScriptConnections(scripts);
  }

  serve(socket: Socket): void {
    const decoder = new FrameDecoder<RequestFrame>();
    const gone = new AbortController();
    const connection: Connection = { gone: gone.signal, waiting: new Map() };
    const fail = (err: unknown): void => void socket.destroy(err as Error);
    const send = (answer: AnswerFrame): void => {
      if (socket.destroyed || socket.write(encodeFrame(answer))) return;
      if (this.unreadBytes() > MAX_UNREAD_BYTES) socket.destroy();
      else readOnceWritten(socket, socket);
    };
    this.sockets.add(socket);
    this.strangers.admit(socket, socket);
    socket.on('data', (chunk: Buffer) => {
      try {
        for (const frame of this.unfinished.push(decoder, chunk))
          if (!this.options.isEnding()) this.answer(frame, socket, connection).then(send).catch(fail);
      } catch (err) {
        fail(err);
      }
    });
    socket.on('close', () => {
      this.sockets.delete(socket);
      this.unfinished.release(decoder);
      gone.abort();
      for (const request of connection.waiting.values()) request.abort();
      connection.waiting.clear();
    });
    socket.on('error', () => socket.destroy());
  }

  /** Unread answers of all connections. */
  private unreadBytes(): number {
    return [...this.sockets].reduce((sum, { writableLength }) => sum + writableLength, 0);
  }

  /** Rejects for an invalid request: no script would wait for its answer. */
  private async answer(frame: RequestFrame, socket: Socket, connection: Connection): Promise<AnswerFrame> {
    const { id } = frame;
    if (connection.waiting.has(id)) throw new Error(`request ${id} is open already`);
    const request = new AbortController();
    connection.waiting.set(id, request);
    let end: (() => void) | undefined;
    try {
      end = this.identify(frame, socket);
      return { id, ok: await this.options.perform(frame, connection, request.signal) };
    } catch (err) {
      const { code, facts } = asHoldfastError(asStorageFailure(err));
      return { id, error: { code, facts } };
    } finally {
      connection.waiting.delete(id);
      end?.();
    }
  }

  /**
   * Returns a function to call at the end of the request. Throws for a wrong token, and if scripts have too many
   * connections.
   */
  private identify({ verb, token }: RequestFrame, socket: Socket): (() => void) | undefined {
    if (verb !== 'call') {
      if (token !== this.options.token) throw new HoldfastError('internal', { reason: 'wrong token' });
      this.strangers.know(socket);
      return undefined;
    }
    // With the token of a command that ended long ago it stays a stranger, but is answered.
    if (!this.options.isScript(token)) return undefined;
    this.scripts.callBegins(socket);
    this.strangers.know(socket);
    return () => this.scripts.callEnds(socket);
  }
}

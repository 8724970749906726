// The connections to a holder: reads their requests, hands them on and writes the answers. Who asks is known by a token:
// the host, and those that have the holder's, may ask for anything; a script calls tools with that of its command; all
// others are strangers. However many strangers and scripts come, they leave room for the host.
import type { Socket } from 'node:net';
import { HoldfastError, reasonOf } from '../../contracts/errors';
import { readOnceWritten, UnfinishedFrames } from '../back-pressure';
import { connectionBounds } from '../descriptors';
import {
  FrameDecoder,
  MAX_UNFINISHED_BYTES,
  encodeFrame,
  type AnswerFrame,
  type RequestFrame,
} from '../protocol';
import { asStorageFailure } from '../storage-failure';
import { Strangers } from '../strangers';
import { ScriptConnections } from './script-connections';

export interface Connection {
  /** Aborts when the other side is gone. */
  gone: AbortSignal;
  /** What its requests wait for, by their ids. */
  waiting: Map<number, AbortController>;
}

interface ConnectionsOptions {
  /** The holder's own. */
  token: string;
  /** Whether a token is that of a command whose scripts may call. */
  isScript: (token: string) => boolean;
  /** The answer of a request; a script's is a `call`. */
  perform: (frame: RequestFrame, connection: Connection, cancelled: AbortSignal) => unknown;
  /** What comes then is not answered any more. */
  isEnding: () => boolean;
}

/** Answers may be large, and a script that reads none of them must not fill the memory of its holder. */
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

  /** Of all connections: answers that the other side has not taken. */
  private unreadBytes(): number {
    return [...this.sockets].reduce((sum, { writableLength }) => sum + writableLength, 0);
  }

  /** Rejects for what is no request: nobody would wait for its answer. */
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
      const known = asStorageFailure(err);
      const error =
        known instanceof HoldfastError ? known : new HoldfastError('internal', { reason: reasonOf(err) });
      return { id, error: { code: error.code, facts: error.facts } };
    } finally {
      connection.waiting.delete(id);
      end?.();
    }
  }

  /** Returns what is to be done at the request's end. Throws for a wrong token, and where scripts have too many. */
  private identify({ verb, token }: RequestFrame, socket: Socket): (() => void) | undefined {
    if (verb !== 'call') {
      if (token !== this.options.token) throw new HoldfastError('internal', { reason: 'wrong token' });
      this.strangers.know(socket);
      return undefined;
    }
    // With that of a command that is long over it stays a stranger, and is answered.
    if (!this.options.isScript(token)) return undefined;
    this.scripts.callBegins(socket);
    this.strangers.know(socket);
    return () => this.scripts.callEnds(socket);
  }
}

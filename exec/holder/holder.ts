// The socket side of a holder: takes requests, says who it is, ends when it is told to.
import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { HoldfastError, reasonOf } from '../../contracts/errors';
import { writeJson } from '../json-file';
import { identityOf } from '../process-identity';
import {
  FrameDecoder,
  PROTOCOL_VERSION,
  encodeFrame,
  type AnswerFrame,
  type RequestFrame,
  type Verbs,
} from '../protocol';
import type { SessionPaths } from '../session-paths';
import type { HolderConfig } from '../spawn-holder';
import { Attachments } from './attachments';
import type { Session } from './session';

interface Connection {
  /** Aborts when the other side is gone. */
  gone: AbortSignal;
  /** What its requests wait for, by their ids. */
  waiting: Map<number, AbortController>;
}

const VERBS =
  'run, secrets, observe, status, input, attach, watch, type, resize, reset, arm, calls, answer, cancel, close';

export class Holder {
  private readonly server = createServer((socket) => this.serve(socket));
  private readonly attachments: Attachments;

  constructor(
    private readonly config: HolderConfig,
    private readonly paths: SessionPaths,
    private readonly session: Session,
  ) {
    this.attachments = new Attachments(session, config.session);
  }

  listen(onListening: () => void): void {
    const { socketPath } = this.config;
    // A socket file that is left over belongs to a dead holder: its starter has made sure of that.
    rmSync(socketPath, { force: true });
    this.server.once('error', (err) => {
      console.error(err);
      process.exit(1);
    });
    this.server.listen(socketPath, () => {
      chmodSync(socketPath, 0o600);
      onListening();
    });
  }

  /** Without a record of itself nobody finds it: then whoever started it is told at once. */
  introduce(): void {
    const { socketPath, token } = this.config;
    try {
      const identity = identityOf(process.pid);
      writeJson(this.paths.holder, { identity, socketPath, token, version: PROTOCOL_VERSION });
    } catch (err) {
      console.error(reasonOf(err));
      rmSync(socketPath, { force: true });
      process.exit(1);
    }
  }

  async end(reason: string | null): Promise<unknown> {
    const snapshot = await this.session.reset({ id: `close-${process.pid}`, reason, by: 'closed' });
    rmSync(this.paths.holder, { force: true });
    // Leaves the answer time to be written.
    setImmediate(() => this.server.close(() => undefined));
    setTimeout(() => process.exit(0), 50);
    return snapshot;
  }

  private serve(socket: Socket): void {
    const decoder = new FrameDecoder<RequestFrame>();
    const gone = new AbortController();
    const connection: Connection = { gone: gone.signal, waiting: new Map() };
    const fail = (err: unknown): void => void socket.destroy(err as Error);
    const send = (answer: AnswerFrame): void => {
      if (!socket.destroyed) socket.write(encodeFrame(answer));
    };
    socket.on('data', (chunk: Buffer) => {
      try {
        for (const frame of decoder.push(chunk)) this.answer(frame, connection).then(send).catch(fail);
      } catch (err) {
        fail(err);
      }
    });
    socket.on('close', () => {
      gone.abort();
      for (const request of connection.waiting.values()) request.abort();
      connection.waiting.clear();
    });
    socket.on('error', () => socket.destroy());
  }

  /** Rejects for what is no request: nobody would wait for its answer. */
  private async answer(frame: RequestFrame, connection: Connection): Promise<AnswerFrame> {
    const { id } = frame;
    if (connection.waiting.has(id)) throw new Error(`request ${id} is open already`);
    const request = new AbortController();
    connection.waiting.set(id, request);
    try {
      // A script shows the token of its command instead, which is good for nothing else.
      if (frame.verb !== 'call' && frame.token !== this.config.token)
        throw new HoldfastError('internal', { reason: 'wrong token' });
      return { id, ok: await this.perform(frame, connection, request.signal) };
    } catch (err) {
      const error =
        err instanceof HoldfastError ? err : new HoldfastError('internal', { reason: reasonOf(err) });
      return { id, error: { code: error.code, facts: error.facts } };
    } finally {
      connection.waiting.delete(id);
    }
  }

  private perform(
    { token, verb, body }: RequestFrame,
    connection: Connection,
    cancelled: AbortSignal,
  ): unknown {
    const { session, attachments } = this;
    const { gone, waiting } = connection;
    switch (verb) {
      case 'run':
        return session.run(body as Verbs['run']['request']);
      case 'secrets':
        return session.secrets.add(body as Verbs['secrets']['request']);
      case 'observe':
        return session.observe((body as Verbs['observe']['request']).until, cancelled);
      case 'status':
        return { ...session.snapshot(), folder: session.folder() };
      case 'input':
        return session.input(body as Verbs['input']['request']);
      case 'attach':
        return attachments.attach(body as Verbs['attach']['request'], gone);
      case 'watch':
        return attachments.watch(body as Verbs['watch']['request'], cancelled);
      case 'type':
        return attachments.type(body as Verbs['type']['request'], gone);
      case 'resize':
        return attachments.resize(body as Verbs['resize']['request'], gone);
      case 'reset':
        return session.reset(body as Verbs['reset']['request']);
      case 'arm':
        return session.arm(body as Verbs['arm']['request'], cancelled);
      case 'call':
        return session.toolCalls.call(token, body, cancelled);
      case 'calls':
        return session.toolCalls.poll(body as Verbs['calls']['request'], cancelled);
      case 'answer':
        return session.toolCalls.answer(body as Verbs['answer']['request']);
      case 'cancel':
        return cancel(waiting, (body as Verbs['cancel']['request']).id);
      case 'close':
        return this.end((body as Verbs['close']['request']).reason);
      default:
        // Of a later release than this holder, which lives on from before.
        throw new HoldfastError('invalid_input', {
          what: "A request to the session's holder",
          got: String(verb),
          allowed: VERBS,
          next: 'The holder is of another release: close the session and open it anew with this one.',
        });
    }
  }
}

function cancel(waiting: Connection['waiting'], id: number): Verbs['cancel']['answer'] {
  waiting.get(id)?.abort();
  waiting.delete(id);
  return {};
}

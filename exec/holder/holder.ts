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
    const send = (answer: AnswerFrame): void => {
      if (!socket.destroyed) socket.write(encodeFrame(answer));
    };
    socket.on('data', (chunk: Buffer) => {
      try {
        for (const frame of decoder.push(chunk)) void this.answer(frame, gone.signal).then(send);
      } catch (err) {
        socket.destroy(err as Error);
      }
    });
    socket.on('close', () => gone.abort());
    socket.on('error', () => socket.destroy());
  }

  private async answer(frame: RequestFrame, gone: AbortSignal): Promise<AnswerFrame> {
    const { id } = frame;
    try {
      if (frame.token !== this.config.token) throw new HoldfastError('internal', { reason: 'wrong token' });
      return { id, ok: await this.perform(frame, gone) };
    } catch (err) {
      const error =
        err instanceof HoldfastError ? err : new HoldfastError('internal', { reason: reasonOf(err) });
      return { id, error: { code: error.code, facts: error.facts } };
    }
  }

  private perform({ verb, body }: RequestFrame, gone: AbortSignal): unknown {
    const { session, attachments } = this;
    switch (verb) {
      case 'run':
        return session.run(body as Verbs['run']['request']);
      case 'observe':
        return session.observe((body as Verbs['observe']['request']).until, gone);
      case 'status':
        return session.snapshot();
      case 'input':
        return session.input(body as Verbs['input']['request']);
      case 'attach':
        return attachments.attach(body as Verbs['attach']['request'], gone);
      case 'watch':
        return attachments.watch(body as Verbs['watch']['request'], gone);
      case 'type':
        return attachments.type(body as Verbs['type']['request'], gone);
      case 'resize':
        return attachments.resize(body as Verbs['resize']['request'], gone);
      case 'reset':
        return session.reset(body as Verbs['reset']['request']);
      case 'close':
        return this.end((body as Verbs['close']['request']).reason);
    }
  }
}

// One connection of somebody elsewhere to one session here: hands frames to the session's holder, whose own token it
// keeps to itself, and reads the log out.
import { createConnection, type Socket } from 'node:net';
import { HoldfastError, reasonOf, type ErrorCode, type ErrorFacts } from '../contracts/errors';
import type { SessionRef } from '../contracts/ids';
import { noTerminal } from './attachment';
import type { AuditLog } from './audit-log';
import type { HolderRecord } from './holder-client';
import type { HostAccess } from './host-access';
import { readOnceWritten } from './back-pressure';
import { readJson } from './json-file';
import { logEnd, readKept } from './log-reader';
import { isAlive } from './process-identity';
import { FrameDecoder, encodeFrame, type AnswerFrame, type RequestFrame, type Verbs } from './protocol';
import { MAX_READ_BYTES, type HostVerbs } from './remote-terminal';
import { sessionPaths } from './session-paths';

const LOOK_EVERY_MS = 25;
const MAX_WAIT_MS = 30_000;
/** A person's command line waits for one or two. */
const MAX_WAITING = 16;
/** How soon a change of the host's access ends what it forbids. */
const ACCESS_EVERY_MS = 1_000;
const MAX_NAME_CHARS = 64;
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;

type Known = keyof HostVerbs;
/** Of these each changes something, or not. */
const VERBS: Record<Known, 'looks' | 'mutates'> = {
  attach: 'looks',
  watch: 'looks',
  read: 'looks',
  cancel: 'looks',
  type: 'mutates',
  resize: 'mutates',
};

export interface AttachConnectionOptions {
  dataDir: string;
  access: HostAccess;
  audit: AuditLog;
}

export class AttachConnection {
  private readonly paths;
  private holder: { socket: Socket; token: string } | undefined;
  private waiting = 0;
  private types = false;

  constructor(
    private readonly socket: Socket,
    private readonly ref: SessionRef,
    private readonly from: string,
    private readonly options: AttachConnectionOptions,
  ) {
    this.paths = sessionPaths(options.dataDir, ref);
  }

  serve(): void {
    const { socket } = this;
    const decoder = new FrameDecoder<RequestFrame>();
    // One after the other: what is typed keeps its order.
    let before = Promise.resolve();
    socket.on('data', (chunk: Buffer) => {
      try {
        for (const frame of decoder.push(chunk)) {
          if (typeof (frame as RequestFrame | null)?.id !== 'number') throw new Error('no request');
          before = before.then(() => this.take(frame));
        }
      } catch {
        socket.destroy();
      }
    });
    const access = setInterval(() => this.checkAccess(), ACCESS_EVERY_MS);
    socket.on('close', () => {
      clearInterval(access);
      this.holder?.socket.destroy();
    });
    socket.resume();
  }

  private async take(frame: RequestFrame): Promise<void> {
    try {
      const effect = Object.hasOwn(VERBS, frame.verb) && VERBS[frame.verb as Known];
      if (!effect)
        throw new HoldfastError('invalid_input', {
          what: 'A request from elsewhere',
          got: String(frame.verb),
          allowed: Object.keys(VERBS).join(', '),
        });
      const isTypist = frame.verb === 'attach' && (frame.body as Verbs['attach']['request']).typist !== null;
      this.options.access.check('somebody who types', isTypist ? 'mutates' : effect);
      // Not awaited: it may wait for long, and what comes behind it does not wait for it.
      if ((frame.verb as Known) === 'read')
        void this.read(frame.id, frame.body as HostVerbs['read']['request']);
      else await this.handOn(frame, isTypist);
    } catch (err) {
      this.refuse(frame.id, err);
    }
  }

  private async handOn(frame: RequestFrame, isTypist: boolean): Promise<void> {
    if (!this.holder) {
      if (frame.verb !== 'attach') throw noTerminal(this.ref);
      this.holder = await this.connect();
    }
    if (isTypist) this.types = true;
    const body = frame.verb === 'attach' ? this.named(frame.body as Verbs['attach']['request']) : frame.body;
    const { socket, token } = this.holder;
    if (!socket.write(encodeFrame({ ...frame, body, token }))) readOnceWritten(this.socket, socket);
  }

  /** Others are shown who types: what somebody says of themselves, and where they are. */
  private named({ typist, size }: Verbs['attach']['request']): Verbs['attach']['request'] {
    if (!typist) return { typist: null, size: null };
    const said = String(typist.who)
      .replace(/[^\x20-\x7e]/g, '?')
      .slice(0, MAX_NAME_CHARS);
    return { typist: { who: `${said} at ${this.from}`, take: typist.take === true }, size };
  }

  private connect(): Promise<{ socket: Socket; token: string }> {
    const record = readJson<HolderRecord>(this.paths.holder);
    if (!record || !isAlive(record.identity)) return Promise.reject(noTerminal(this.ref));
    return new Promise((resolve, reject) => {
      const holder = createConnection(record.socketPath);
      holder.once('error', () => reject(noTerminal(this.ref)));
      holder.once('connect', () => {
        holder.removeAllListeners('error').on('error', () => holder.destroy());
        // Whole frames: ours go the same way. The terminal is gone with it.
        const decoder = new FrameDecoder<AnswerFrame>();
        holder.on('data', (chunk: Buffer) => {
          for (const answer of decoder.push(chunk)) this.send(answer);
        });
        holder.on('close', () => this.socket.destroySoon());
        resolve({ socket: holder, token: record.token });
      });
    });
  }

  private async read(id: number, body: HostVerbs['read']['request']): Promise<void> {
    const { log } = this.paths;
    this.waiting += 1;
    try {
      const { from, waitMs } = body;
      if (from !== null && !(Number.isSafeInteger(from) && from >= 0))
        throw new HoldfastError('invalid_input', {
          what: 'The offset',
          got: String(from),
          allowed: 'a number',
        });
      if (this.waiting > MAX_WAITING) throw new HoldfastError('attach_refused', this.tooMany());
      const until = Date.now() + Math.min(MAX_WAIT_MS, waitMs);
      while (from !== null && logEnd(log) <= from && Date.now() < until && !this.socket.destroyed)
        await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
      const end = logEnd(log);
      const at = from ?? end;
      const kept = readKept(log, at, Math.min(end, at + MAX_READ_BYTES));
      const data = kept.data.toString('base64');
      this.send({ id, ok: { data, end, ...(kept.from > at && { from: kept.from }) } });
    } catch (err) {
      this.refuse(id, err);
    } finally {
      this.waiting -= 1;
    }
  }

  /** A host that is closed, or closed for typing, is so for those who are there already. */
  private checkAccess(): void {
    const { access } = this.options;
    if (access.current === 'off' || (this.types && access.current !== 'read-write')) this.socket.destroy();
  }

  private refuse(id: number, err: unknown): void {
    const known = err instanceof HoldfastError ? err : undefined;
    const code: ErrorCode = known?.code ?? 'internal';
    const facts: ErrorFacts = known?.facts ?? { reason: reasonOf(err) };
    // That there is no terminal yet is no refusal: whoever waits for it asks again and again.
    if (code !== 'not_found')
      this.options.audit.write({
        what: 'attach',
        outcome: 'refused',
        why: code,
        ...this.ref,
        from: this.from,
      });
    this.send({ id, error: { code, facts } });
  }

  private tooMany(): ErrorFacts {
    return { host: this.ref.host, reason: `it has ${MAX_WAITING} requests of this connection open already` };
  }

  private send(answer: AnswerFrame): void {
    if (this.socket.destroyed) return;
    this.socket.write(encodeFrame(answer));
    // Whoever asks and does not read must not fill the memory of the host.
    if (this.socket.writableLength > MAX_UNREAD_BYTES) this.socket.destroy();
  }
}

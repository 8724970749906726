// A remote connection to one local session: forwards requests to the session's holder, whose token never leaves this
// machine, and reads the log.
import { beginningOf } from '../../contracts/text/well-formed';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { HoldfastError, reasonOf, type ErrorCode } from '../../contracts/errors/holdfast-error';
import type { ErrorFacts, With } from '../../contracts/errors/error-entry';
import type { SessionRef } from '../../contracts/ids';
import { isPassing } from '../../contracts/errors/passing';
import { attachTo, noTerminal } from './attachment';
import type { AuditLog } from '../host/audit-log';
import { HolderGone } from '../client/holder-client';
import { HolderConnections } from '../client/holder-connections';
import type { HostAccess } from '../host/host-access';
import { logEnd, nextPiece } from '../output/log-reader';
import { FrameDecoder, encodeFrame, type AnswerFrame, type RequestFrame, type Verbs } from '../protocol';
import { MAX_READ_BYTES, type HostVerbs } from './remote-terminal';
import { sessionPaths } from '../session-paths';

const LOOK_EVERY_MS = 25;
const MAX_WAIT_MS = 30_000;
/** A person's command line has one or two requests waiting. */
const MAX_WAITING = 16;
/** How soon a change of the host's access affects open connections. */
const ACCESS_EVERY_MS = 1_000;
const MAX_NAME_CHARS = 64;
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;
/** Fewer than the other side allows us: when it comes back, its keyboard is free. */
const SILENT_PULSES = 3;
const SHORTEST_PULSE_MS = 1_000;
/** Verbs that answer when there is something new. */
const WAITING: readonly string[] = ['watch', 'read'] satisfies Known[];

type Known = keyof HostVerbs;
/** Whether each verb changes anything. */
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

/** Who is at the other end. */
export interface AttachPeer {
  address: string;
  /** How often it promises to be heard; undefined: it promises nothing. */
  pulseMs: number | undefined;
}

export class AttachConnection {
  /** Not shared: the person's place at the terminal is bound to this connection. */
  private readonly connections: HolderConnections;
  /** Waiting requests, by id. */
  private readonly waiting = new Map<number, AbortController>();
  private types = false;

  constructor(
    private readonly socket: Socket,
    private readonly ref: SessionRef,
    private readonly peer: AttachPeer,
    private readonly options: AttachConnectionOptions,
  ) {
    this.connections = new HolderConnections(options.dataDir);
  }

  serve(): void {
    const { socket } = this;
    const decoder = new FrameDecoder<RequestFrame>();
    socket.on('data', (chunk: Buffer) => {
      try {
        const frames = decoder.push(chunk);
        if (frames.some((frame) => typeof (frame as RequestFrame | null)?.id !== 'number'))
          throw new Error('not a request');
        // Back-pressure: the sender keeps what the session has not accepted yet.
        socket.pause();
        this.takeAll(frames).then(
          () => socket.resume(),
          () => socket.destroy(),
        );
      } catch {
        socket.destroy();
      }
    });
    const access = setInterval(() => this.checkAccess(), ACCESS_EVERY_MS);
    this.endInSilence();
    socket.on('close', () => {
      clearInterval(access);
      for (const request of this.waiting.values()) request.abort();
      this.connections.closeAll();
    });
    socket.resume();
  }

  /** A pulled cable ends no connection, and who types keeps the keyboard as long as it lasts. */
  private endInSilence(): void {
    const { socket, peer } = this;
    if (peer.pulseMs === undefined) return;
    let silent = 0;
    socket.on('data', () => (silent = 0));
    const pulse = setInterval(
      () => {
        // Nothing is read while a request is being carried out.
        if (socket.isPaused()) silent = 0;
        else if (silent++ >= SILENT_PULSES) socket.destroy();
      },
      Math.max(SHORTEST_PULSE_MS, peer.pulseMs),
    );
    socket.on('close', () => clearInterval(pulse));
  }

  /** In sequence: typed input keeps its order. */
  private async takeAll(frames: readonly RequestFrame[]): Promise<void> {
    for (const frame of frames) {
      const taken = this.take(frame);
      // It may wait for a long time; later requests do not wait for it.
      if (!WAITING.includes(frame.verb)) await taken;
    }
  }

  private async take(frame: RequestFrame): Promise<void> {
    const { id, verb, body } = frame;
    const over = new AbortController();
    try {
      this.check(frame);
      if (WAITING.includes(verb)) this.admit(id, over);
      const ok = await this.perform(verb as Known, body, over.signal);
      if (!over.signal.aborted) this.send({ id, ok });
    } catch (err) {
      if (over.signal.aborted) return;
      // The holder has died, and the terminal with it.
      if (err instanceof HolderGone) this.socket.destroySoon();
      else this.refuse(id, err);
    } finally {
      if (this.waiting.get(id) === over) this.waiting.delete(id);
    }
  }

  private check({ verb, body }: RequestFrame): void {
    const effect = Object.hasOwn(VERBS, verb) && VERBS[verb as Known];
    if (!effect)
      throw new HoldfastError('invalid_input', {
        what: 'A request from elsewhere',
        got: String(verb),
        allowed: Object.keys(VERBS).join(', '),
      });
    const isTypist = verb === 'attach' && (body as Verbs['attach']['request']).typist !== null;
    this.options.access.check('typing at a terminal', isTypist ? 'mutates' : effect);
    if (isTypist) this.types = true;
  }

  private admit(id: number, over: AbortController): void {
    if (this.waiting.size >= MAX_WAITING) throw new HoldfastError('attach_refused', this.tooMany());
    if (this.waiting.has(id))
      throw new HoldfastError('invalid_input', {
        what: 'The id of a request',
        got: id,
        allowed: 'a new one',
      });
    this.waiting.set(id, over);
  }

  private async perform(verb: Known, body: unknown, signal: AbortSignal): Promise<unknown> {
    const { connections, ref } = this;
    if (verb === 'read') return this.read(body as HostVerbs['read']['request'], signal);
    if (verb === 'cancel') return this.cancel((body as Verbs['cancel']['request']).id);
    if (verb === 'attach')
      return (await attachTo(connections, ref, this.named(body as Verbs['attach']['request']))).state;
    const holder = await connections.made(ref);
    if (!holder) throw noTerminal(ref);
    const request = verb === 'watch' ? checkedWatch(body) : body;
    return holder.request(verb, request as Verbs[typeof verb]['request'], signal);
  }

  /** Shown to others as the typist: the name that the person gives, and their address. */
  private named({ typist, size }: Verbs['attach']['request']): Verbs['attach']['request'] {
    if (!typist) return { typist: null, size: null };
    const said = beginningOf(String(typist.who).replace(/[^\x20-\x7e]/g, '?'), MAX_NAME_CHARS);
    return { typist: { who: `${said} at ${this.peer.address}`, take: typist.take === true }, size };
  }

  private cancel(id: number): Verbs['cancel']['answer'] {
    this.waiting.get(id)?.abort();
    return {};
  }

  private async read(
    { from, waitMs }: HostVerbs['read']['request'],
    signal: AbortSignal,
  ): Promise<HostVerbs['read']['answer']> {
    const { log } = sessionPaths(this.options.dataDir, this.ref);
    if (from !== null && !(Number.isSafeInteger(from) && from >= 0))
      throw new HoldfastError('invalid_input', {
        what: 'The offset',
        got: String(from),
        allowed: 'a number',
      });
    const until = performance.now() + Math.min(MAX_WAIT_MS, waitMs);
    while (from !== null && logEnd(log) <= from && performance.now() < until && !signal.aborted)
      await delay(LOOK_EVERY_MS);
    const end = logEnd(log);
    const at = from ?? end;
    const { data, missing } = nextPiece(log, at, Math.min(end, at + MAX_READ_BYTES));
    return { data: data.toString('base64'), end, ...(missing && { missing }) };
  }

  /** Closing a host, or closing it for typing, also affects people who are already attached. */
  private checkAccess(): void {
    const { access } = this.options;
    try {
      if (access.current === 'off' || (this.types && access.current !== 'read-write')) this.socket.destroy();
    } catch {
      // Its file cannot be read, so it may be closed.
      this.socket.destroy();
    }
  }

  private refuse(id: number, err: unknown): void {
    const known = err instanceof HoldfastError ? err : undefined;
    const code: ErrorCode = known?.code ?? 'internal';
    const facts: ErrorFacts = known?.facts ?? { reason: reasonOf(err) };
    // A missing terminal is not audited as a refusal: callers that wait for one ask repeatedly.
    if (code !== 'not_found' && !isPassing(err))
      this.options.audit.write({
        what: 'attach',
        outcome: 'refused',
        why: code,
        ...this.ref,
        from: this.peer.address,
      });
    this.send({ id, error: { code, facts } });
  }

  private tooMany(): With<'host' | 'reason'> {
    return { host: this.ref.host, reason: `it has ${MAX_WAITING} requests of this connection open already` };
  }

  private send(answer: AnswerFrame): void {
    if (this.socket.destroyed) return;
    this.socket.write(encodeFrame(answer));
    // A client that does not read its answers must not fill the host's memory.
    if (this.socket.writableLength > MAX_UNREAD_BYTES) this.socket.destroy();
  }
}

/** All who follow the session wait at its holder, which checks nothing. */
function checkedWatch(body: unknown): Verbs['watch']['request'] {
  const { from, seen } = (body ?? {}) as Partial<Verbs['watch']['request']>;
  const { epoch, running, typist, size } = seen ?? {};
  const isState =
    [from, epoch, size?.cols, size?.rows].every((number) => typeof number === 'number') &&
    [running, typist].every((name) => name === null || typeof name === 'string');
  if (isState) return { from, seen: { epoch, running, typist, size } } as Verbs['watch']['request'];
  throw new HoldfastError('invalid_input', {
    what: 'What a watch has seen',
    got: typeof seen,
    allowed: 'an offset, and a state of the terminal',
  });
}

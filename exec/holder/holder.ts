// The holder itself: handles requests, announces itself and stays findable, ends on request.
import { fstatSync, openSync, statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { removeQuietly } from '../../system/json-file';
import { ownRelease } from '../../system/package-root';
import { identityOf, isAlive, type Identity } from '../../system/processes/process-identity';
import { readProcessRecord, writeProcessRecord } from '../../system/processes/process-record';
import { NUDGE, PROTOCOL_VERSION, type RequestFrame, type Verbs } from '../protocol';
import type { SessionPaths } from '../session-paths';
import type { HolderConfig } from '../holder-config';
import { KeptSocket } from '../kept-socket';
import { Attachments } from './attachments';
import { Connections, type Connection } from './calls/connections';
import type { Session } from './session';

/** Read once: its folder may be replaced by the next release while the holder lives. */
const RELEASE = ownRelease();

const LOOK_EVERY_MS = 1_000;
/** A hundred idle sessions should cost nothing that people notice; the host nudges a holder that it cannot find. */
const IDLE_LOOK_EVERY_MS = 10_000;
/** How long an end waits for space on a full disk. Hosts take a holder that is silent for longer for one that hangs. */
const WRITTEN_MS = 3_000;
const POLL_MS = 20;

const VERBS =
  'run, secrets, observe, status, input, attach, watch, type, resize, reset, arm, calls, answer, cancel, close';

export class Holder {
  private readonly socket: KeptSocket;
  private readonly attachments: Attachments;
  private readonly folder: number;
  private isEnding = false;
  /** The record as written: its file, its size in bytes and its time. A new file may get the number of a removed one. */
  private written: { ino: number; size: number; mtimeMs: number } | null = null;
  private nextLook: NodeJS.Timeout | null = null;
  private isIdle = false;
  /** Logged once. */
  private replacedBy: number | null = null;

  constructor(
    private readonly config: HolderConfig,
    private readonly paths: SessionPaths,
    private readonly session: Session,
  ) {
    const connections = new Connections({
      token: config.token,
      isScript: (token) => session.toolCalls.knows(token),
      perform: (...request) => this.perform(...request),
      isEnding: () => this.isEnding,
    });
    this.socket = new KeptSocket(config.socketPath, (socket) => connections.serve(socket));
    this.attachments = new Attachments(session, config.session);
    this.folder = openSync(paths.directory, 'r');
  }

  /** Emits an error later if it cannot listen: before `introduce`, its starter reports that. */
  listen(onListening: () => void): void {
    this.socket.listen(onListening, (err) => {
      throw err;
    });
  }

  /** Without a record the holder cannot be found, so a failure is reported to the starter at once. */
  introduce(): void {
    try {
      this.record();
    } catch (err) {
      removeQuietly(this.config.socketPath);
      throw err;
    }
    process.on(NUDGE, () => this.stayFindable());
    this.lookLater(true);
  }

  private lookLater(isIdle: boolean): void {
    this.isIdle = isIdle;
    if (this.nextLook) clearTimeout(this.nextLook);
    // The server keeps the process alive, not this timer.
    this.nextLook = setTimeout(
      () => this.stayFindable(),
      isIdle ? IDLE_LOOK_EVERY_MS : LOOK_EVERY_MS,
    ).unref();
  }

  private record(): void {
    const { socketPath, token } = this.config;
    const identity = identityOf(process.pid);
    writeProcessRecord(this.paths.process, identity);
    writeProcessRecord(this.paths.holder, {
      identity,
      socketPath,
      token,
      version: PROTOCOL_VERSION,
      release: RELEASE,
    });
    const { ino, size, mtimeMs } = statSync(this.paths.holder);
    this.written = { ino, size, mtimeMs };
  }

  /** A holder that cannot be found would run for ever, so its socket and record are recreated. */
  private stayFindable(): void {
    if (this.isEnding) return;
    try {
      // Somebody has deleted the session: its terminal ends too.
      if (fstatSync(this.folder).nlink === 0) return void this.end('the folder of the session was deleted');
      if (!this.isRecorded()) {
        if (this.isReplaced()) return this.lookLater(true);
        this.record();
      }
      this.session.snapshot();
    } catch {
      // Retried at the next look.
    }
    this.socket.keep();
    this.lookLater(!this.session.isRunning);
  }

  private isRecorded(): boolean {
    const there = statSync(this.paths.holder, { throwIfNoEntry: false });
    const { written } = this;
    return (
      there?.ino === written?.ino && there?.size === written?.size && there?.mtimeMs === written?.mtimeMs
    );
  }

  /** Both would write one log and one record, in turn: the session belongs to the one that is recorded. */
  private isReplaced(): boolean {
    const recorded = readProcessRecord<{ identity: Identity }>(this.paths.holder)?.identity;
    if (!recorded || recorded.pid === process.pid || !isAlive(recorded)) return false;
    if (this.replacedBy !== recorded.pid) {
      this.replacedBy = recorded.pid;
      console.error(new Date().toISOString(), `process ${recorded.pid} holds this session, too`);
    }
    return true;
  }

  /** Otherwise the session was deleted, and what is in its place belongs to the next holder. */
  private isInPlace(): boolean {
    try {
      return statSync(this.paths.directory).ino === fstatSync(this.folder).ino && !this.isReplaced();
    } catch {
      return false;
    }
  }

  /** From now on requests find a closed connection, and then the next holder: this one begins nothing more. */
  async end(reason: string | null): Promise<unknown> {
    this.isEnding = true;
    const snapshot = await this.session.reset({ id: `close-${process.pid}`, reason, by: 'closed' });
    void this.leave();
    return snapshot;
  }

  /** Recorded until then: a next holder would write to the same log. */
  private async leave(): Promise<void> {
    const until = performance.now() + WRITTEN_MS;
    while (!this.session.isWritten && this.isInPlace() && performance.now() < until) await delay(POLL_MS);
    const { holder, process: ownProcess, tree } = this.paths;
    if (this.isInPlace()) for (const path of [holder, ownProcess, tree]) removeQuietly(path);
    // Leaves time to write the answer.
    setImmediate(() => this.socket.close());
    setTimeout(() => process.exit(0), 50);
  }

  private perform(
    { token, verb, body }: RequestFrame,
    connection: Connection,
    cancelled: AbortSignal,
  ): unknown {
    const { session, attachments } = this;
    const { gone, waiting } = connection;
    if (this.isIdle && verb === 'run') this.lookLater(false);
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
        // A verb of a later release than this holder, which is still running from before.
        throw new HoldfastError('invalid_input', {
          what: "A request to the session's holder",
          got: String(verb),
          allowed: VERBS,
          next: 'The holder is from another release: close the session and open it again with this one.',
        });
    }
  }
}

function cancel(waiting: Connection['waiting'], id: number): Verbs['cancel']['answer'] {
  waiting.get(id)?.abort();
  waiting.delete(id);
  return {};
}

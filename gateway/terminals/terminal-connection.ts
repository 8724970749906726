// One client at one terminal: bytes from an offset on, keys back. The log is the buffer: a client that does not
// acknowledge makes this side stop reading it, so nothing is kept for it here.
import { randomUUID } from 'node:crypto';
import type { RawData, WebSocket } from 'ws';
import {
  OFFSET_BYTES,
  WINDOW_BYTES,
  type FromClient,
  type FromServer,
  type Hello,
} from '../../contracts/gateway/terminal';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { SessionRef } from '../../contracts/ids';
import { parseWith } from '../../contracts/schemas/parse';
import { fromClientSchema } from '../../contracts/schemas/from-client';
import type { Attachment } from '../../exec/attach/attachment';
import { repaint } from '../../exec/attach/repaint';
import type { AttachedState, TerminalSize } from '../../exec/protocol';
import { requireRole, type Caller } from '../access/grants';
import type { GatewayContext } from '../gateway-context';
import { placeOf, type SessionPlace } from './session-place';
import { refuse } from './refuse';
import { beginningOf } from '../../contracts/text/well-formed';

/** What a snapshot is drawn from. */
const SNAPSHOT_BYTES = 512 * 1024;
/** Shown to others. Hosts cut off what is longer than 64, and the mark at the end distinguishes connections. */
const MAX_NAME_CHARS = 50;
const MARK_CHARS = 8;
/** A client that lacks more gets a snapshot. */
const CATCH_UP_BYTES = 8 * 1024 * 1024;
/** As they came, of keys that wait for the terminal or for its program; each message counts for something. */
const MAX_WAITING_BYTES = 1024 * 1024;
const MESSAGE_BYTES = 256;

interface ConnectionOptions {
  context: GatewayContext;
  caller: Caller;
  /** Writes that this client has the keyboard, or may not have it. */
  audit: (err?: unknown) => void;
}

export class TerminalConnection {
  private place: SessionPlace | undefined;
  private attachment: Attachment | undefined;
  private hello: Hello | undefined;
  private isOver = false;
  private acked = 0;
  private onAck: (() => void) | undefined;
  /** Keys are typed in the order in which they came. */
  private typing: Promise<void> = Promise.resolve();
  private waitingBytes = 0;
  private onAttached: (() => void) | undefined;
  /** By which it knows itself among those who type: a host adds its address to a name, and may shorten it. */
  private mark = '';
  private readonly name: string;
  private readonly context: GatewayContext;
  private readonly audit: ConnectionOptions['audit'];

  constructor(
    private readonly client: WebSocket,
    private readonly ref: SessionRef,
    { context, caller, audit }: ConnectionOptions,
  ) {
    this.context = context;
    this.audit = audit;
    this.name = beginningOf(caller.name, MAX_NAME_CHARS);
    client.on('message', (data, isBinary) => {
      try {
        this.take(read(data, isBinary), caller);
      } catch (err) {
        if (!this.isOver) audit(err);
        this.refuse(err);
      }
    });
  }

  refuse(err: unknown): void {
    if (this.isOver) return;
    refuse(this.client, err);
    // Not only once the client has left: what it sends until then must reach no terminal.
    this.close();
  }

  close(): void {
    this.isOver = true;
    this.onAck?.();
    this.onAttached?.();
    this.attachment?.close();
    this.place?.close();
  }

  private take(said: FromClient, caller: Caller): void {
    if (this.isOver) return;
    if (said.kind === 'hello') {
      if (this.hello) throw unexpected('a second hello');
      if (said.types) requireRole(caller, 'operator', 'Typing into a terminal');
      this.hello = said;
      this.mark = `, ${(said.client ?? randomUUID()).slice(0, MARK_CHARS)}`;
      // What is typed before the terminal is reached waits for it.
      this.typing = new Promise((resolve) => (this.onAttached = resolve));
      this.serve(said).catch((err: unknown) => this.refuse(err));
    } else if (!this.hello) {
      throw unexpected(`${said.kind} before hello`);
    } else if (said.kind === 'ack') {
      this.acked = Math.max(this.acked, said.to);
      this.onAck?.();
    } else {
      this.act(said);
    }
  }

  private act(said: Extract<FromClient, { kind: 'input' | 'resize' }>): void {
    if (!this.hello?.types) return;
    const bytes = MESSAGE_BYTES + (said.kind === 'input' ? said.data.length : 0);
    if (this.waitingBytes + bytes > MAX_WAITING_BYTES)
      throw new HoldfastError('input_queue_full', { session: this.ref.session, allowed: MAX_WAITING_BYTES });
    this.waitingBytes += bytes;
    this.typing = this.typing
      .then(async () => {
        if (this.isOver || !this.attachment) return;
        if (said.kind === 'resize') return this.attachment.resize(said);
        const { id, command } = said;
        const typed = await this.attachment.type(Buffer.from(said.data, 'base64'), { id, command });
        this.send({ kind: 'typed', id, typed });
      })
      .catch((err: unknown) => this.refuse(err))
      .finally(() => (this.waitingBytes -= bytes));
  }

  private async serve(hello: Hello): Promise<void> {
    const place = await placeOf(this.context, this.ref);
    // Its client has left meanwhile, so nothing else closes it.
    if (this.isOver) return place.close();
    this.place = place;
    const attachment = await this.attach(place, hello).catch(async (err: unknown) => {
      if (hello.types || !isGone(err)) throw err;
      const end = await place.end();
      // It has shown nothing: it may be just opening, and is then there when the client looks again.
      if (end === 0) throw err;
      await this.showLog(place, end, hello);
    });
    if (!attachment) return;
    this.attachment = attachment;
    this.onAttached?.();
    if (this.isOver) return this.close();
    if (hello.types) this.audit();
    this.sendState(attachment.state);
    const from = await this.begin(attachment, hello);
    for await (const change of attachment.changes(from)) {
      if (this.isOver) return;
      if (change.kind === 'state') this.sendState(change.state);
      else if (change.kind === 'missing')
        this.send({
          kind: 'missing',
          from: change.from,
          to: change.to,
          cause: change.missing?.cause ?? 'unknown',
        });
      else await this.output(change.from, change.data);
    }
    this.end();
  }

  private async attach(place: SessionPlace, { cols, rows, types, take = false }: Hello): Promise<Attachment> {
    if (!types) return place.attach({ typist: null, size: null });
    const who = this.name + this.mark;
    const attach = (takes: boolean): Promise<Attachment> =>
      place.attach({ typist: { who, take: takes }, size: { cols, rows } });
    return attach(take).catch((err: unknown) => {
      // Its own connection that is lost still has the keyboard.
      if (err instanceof HoldfastError && err.code === 'typist_busy' && this.isOwn(String(err.facts.who)))
        return attach(true);
      throw err;
    });
  }

  private isOwn(typist: string): boolean {
    return typist.includes(this.mark);
  }

  /** Where bytes begin: after what the client has, if that is near; else after a snapshot. */
  private async begin(attachment: Attachment, { from, cols, rows, types }: Hello): Promise<number> {
    const { end, size } = attachment.state;
    if (from !== null && from <= end && end - from <= CATCH_UP_BYTES) {
      this.acked = from;
      return from;
    }
    const shown = types ? { cols, rows } : size;
    return this.draw(await attachment.read(Math.max(0, end - SNAPSHOT_BYTES), end), end, shown);
  }

  /** What a terminal that is gone has shown last. */
  private async showLog(place: SessionPlace, end: number, size: TerminalSize): Promise<void> {
    const { data } = await place.read(Math.max(0, end - SNAPSHOT_BYTES), end);
    await this.draw(data, end, size);
    this.end();
  }

  /** Returns where bytes go on: before `end`, if the last ones are drawn with those that follow. */
  private async draw(data: Buffer, end: number, { cols, rows }: TerminalSize): Promise<number> {
    const { drawing, rest } = await repaint(data, { cols, rows });
    const at = end - rest;
    this.send({ kind: 'snapshot', at, cols, rows, data: drawing });
    return (this.acked = at);
  }

  private end(): void {
    if (this.isOver) return;
    this.send({ kind: 'ended' });
    this.client.close(1000);
  }

  private async output(from: number, data: Buffer): Promise<void> {
    const frame = Buffer.allocUnsafe(OFFSET_BYTES + data.length);
    frame.writeBigUInt64BE(BigInt(from));
    data.copy(frame, OFFSET_BYTES);
    await new Promise<void>((resolve) => this.client.send(frame, () => resolve()));
    const to = from + data.length;
    while (to - this.acked > WINDOW_BYTES && !this.isOver)
      await new Promise<void>((resolve) => (this.onAck = resolve));
  }

  private sendState({ running, typist, size, end }: AttachedState): void {
    const isTypist = this.hello?.types === true && typist !== null && this.isOwn(typist);
    this.send({ kind: 'state', running, typist, isTypist, ...size, end });
  }

  /** Nothing follows a refusal: a terminal that we have left would seem to have ended, and to have typed nothing. */
  private send(said: FromServer): void {
    if (this.isOver) return;
    this.client.send(JSON.stringify(said), () => undefined);
  }
}

function read(data: RawData, isBinary: boolean): FromClient {
  if (isBinary) throw unexpected('a binary message');
  let said: unknown;
  try {
    said = JSON.parse((data as Buffer).toString('utf8'));
  } catch {
    throw unexpected('a text that is no JSON');
  }
  return parseWith(fromClientSchema, 'The message to a terminal', said, true);
}

const isGone = (err: unknown): boolean => err instanceof HoldfastError && err.code === 'not_found';

const unexpected = (got: string): HoldfastError =>
  new HoldfastError('invalid_input', {
    what: 'The message to a terminal',
    got,
    allowed: 'hello first, then input, resize and ack, as JSON texts (docs/api.md)',
  });

// One connection to a holder: requests are sent at once, answers are matched by id.
import { createConnection, type Socket } from 'node:net';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { Release } from '../../system/package-root';
import type { Identity } from '../../system/processes/process-identity';
import {
  FrameDecoder,
  PROTOCOL_VERSION,
  encodeFrame,
  type AnswerFrame,
  type Verb,
  type Verbs,
} from '../protocol';

/** A holder closes connections that do not identify themselves; a request within this time does so. */
const SILENT_MS = 1_000;

/** How a holder describes itself in its session's folder; readable by this user only. */
export interface HolderRecord {
  identity: Identity;
  socketPath: string;
  token: string;
  /** The version of the protocol; see there. */
  version: number;
  release: Release;
}

/** The holder went away before it answered. */
export class HolderGone extends Error {
  override name = 'HolderGone';
}

interface Pending {
  resolve: (value: unknown) => void;
  reject: (err: Error) => void;
  /** Removes the listener from the caller's signal. */
  release: () => void;
}

/** The verbs of a protocol, each with its request and answer. */
type VerbsOf<V> = { [K in keyof V]: { request: unknown; answer: unknown } };

export class HolderClient<V extends VerbsOf<V> & Pick<Verbs, 'cancel'> = Verbs> {
  private nextId = 1;
  private readonly pending = new Map<number, Pending>();
  isOpen = true;

  constructor(
    private readonly socket: Socket,
    private readonly token: string,
  ) {
    const decoder = new FrameDecoder<AnswerFrame | null>();
    socket.on('data', (chunk: Buffer) => {
      try {
        for (const frame of decoder.push(chunk)) this.settle(frame);
      } catch {
        // A malformed frame ends this connection, never the process: the other side may be a host that others control.
        socket.destroy();
      }
    });
    socket.on('close', () => this.onClose());
  }

  /** Throws HolderGone when no holder listens. */
  static connect(record: HolderRecord): Promise<HolderClient> {
    return new Promise((resolve, reject) => {
      const socket = createConnection(record.socketPath);
      socket.once('error', (err) => reject(new HolderGone(err.message, { cause: err })));
      socket.once('connect', () => {
        socket.removeAllListeners('error');
        socket.on('error', () => socket.destroy());
        const client = new HolderClient(socket, record.token);
        client.introduce();
        resolve(client);
      });
    });
  }

  /** Throws the holder's HoldfastError, or HolderGone. An abort only stops waiting, here and at the holder. */
  request<K extends keyof V & string>(
    verb: K,
    body: V[K]['request'],
    signal?: AbortSignal,
  ): Promise<V[K]['answer']> {
    if (signal?.aborted) return Promise.reject(asError(signal.reason));
    if (!this.isOpen) return Promise.reject(new HolderGone('connection closed'));
    const id = this.nextId++;
    return new Promise((resolve, reject) => {
      const drop = (): void => this.drop(id, signal?.reason);
      const release = (): void => signal?.removeEventListener('abort', drop);
      this.pending.set(id, { resolve: resolve, reject, release });
      signal?.addEventListener('abort', drop, { once: true });
      this.send(id, verb, body);
    });
  }

  close(): void {
    this.socket.destroy();
  }

  /** Identifies the connection if no request is sent for a while, for example while a secret is being looked up. */
  private introduce(): void {
    // No request has id 0.
    const hello = setTimeout(() => this.nextId === 1 && this.send(0, 'cancel', { id: 0 }), SILENT_MS).unref();
    this.socket.once('close', () => clearTimeout(hello));
  }

  private send(id: number, verb: string, body: unknown): void {
    this.socket.write(
      encodeFrame({ id, token: this.token, version: PROTOCOL_VERSION, verb: verb as Verb, body }),
    );
  }

  private drop(id: number, reason: unknown): void {
    this.pending.get(id)?.reject(asError(reason));
    this.pending.delete(id);
    // The answer to this is ignored.
    if (this.isOpen) this.send(this.nextId++, 'cancel', { id });
  }

  /** Throws if it is no answer; then its request is still pending. */
  private settle(frame: AnswerFrame | null): void {
    if (typeof frame?.id !== 'number') throw new Error('not an answer');
    const { id, ok, error } = frame;
    const failure = error && HoldfastError.received(error.code, error.facts);
    const pending = this.pending.get(id);
    this.pending.delete(id);
    pending?.release();
    if (failure) pending?.reject(failure);
    else pending?.resolve(ok);
  }

  private onClose(): void {
    this.isOpen = false;
    for (const { reject, release } of this.pending.values()) {
      release();
      reject(new HolderGone('the holder closed the connection'));
    }
    this.pending.clear();
  }
}

const asError = (reason: unknown): Error => (reason instanceof Error ? reason : new Error('aborted'));

// The client of a listening host: a connection to one session there, using the fingerprint that the host has announced
// and its token. Knows nothing about Temporal.
import type { TLSSocket } from 'node:tls';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { SessionRef } from '../../contracts/ids';
import type { HostFacts } from '../../contracts/schemas/remote-hosts';
import type { MissingPart } from '../../contracts/sessions/missing-output';
import { connectToHost } from './remote-connection';
import { HolderClient, HolderGone } from '../client/holder-client';
import type { Piece } from '../output/log-reader';
import type { Verbs } from '../protocol';

export const MAX_READ_BYTES = 256 * 1024;
/** A pulled cable ends no connection: after this many pulses in which nothing came, this side does. */
const SILENT_PULSES = 5;

/** What a host answers to remote clients: its holder's answers, and the log, which is stored there. */
export interface HostVerbs extends Pick<Verbs, 'attach' | 'watch' | 'type' | 'resize' | 'cancel'> {
  /**
   * Waits until the log is longer than `from`. `from: null` means the log's end: then `data` (base64) is empty. `data`
   * is also empty if a part is `missing` at `from`.
   */
  read: {
    request: { from: number | null; waitMs: number };
    answer: { data: string; end: number; missing?: MissingPart };
  };
}

export interface RemotePlace {
  listens: NonNullable<HostFacts['listens']>;
  token: string;
  ref: SessionRef;
  /**
   * If present, each side looks this often whether the other one is still there; a host that is left frees the keyboard.
   * For programs that come back by themselves: a person's connection outlives the sleep of a laptop.
   */
  pulseMs?: number | undefined;
}

export class RemoteTerminal {
  private isClosed = false;
  private isSilent = false;

  private constructor(
    readonly client: HolderClient<HostVerbs>,
    private readonly place: RemotePlace,
    private readonly socket: TLSSocket,
  ) {}

  get ref(): SessionRef {
    return this.place.ref;
  }

  /**
   * The token is never sent: both sides prove that they have it. Throws `attach_refused` for a wrong fingerprint, for a
   * host that cannot prove it, and for the host's own refusals; `HolderGone` if there is no answer.
   */
  static async open(place: RemotePlace): Promise<RemoteTerminal> {
    const { listens, token, ref, pulseMs } = place;
    const socket = await connectToHost({ listens, token, host: ref.host }, { ref, pulseMs });
    const client = new HolderClient<HostVerbs>(socket, '');
    const terminal = new RemoteTerminal(client, place, socket);
    if (pulseMs !== undefined) terminal.feelPulse(pulseMs);
    // Paused since its first line.
    socket.resume();
    return terminal;
  }

  /**
   * A request of a person at the terminal. Throws `HolderGone` if the terminal is gone, and `host_unreachable` if only the
   * connection is.
   */
  async ask<K extends keyof HostVerbs>(
    verb: K,
    body: HostVerbs[K]['request'],
  ): Promise<HostVerbs[K]['answer']> {
    try {
      return await this.client.request(verb, body);
    } catch (err) {
      throw err instanceof HolderGone && !this.isClosed ? await this.whatIsGone(err) : err;
    }
  }

  /** Offset of the log's end. Throws `host_unreachable`. */
  async end(): Promise<number> {
    return (await this.log({ from: null, waitMs: 0 })).end;
  }

  /**
   * The log's next piece, like `nextPiece`, at most 256 KiB; empty if nothing arrived within `waitMs`. Throws
   * `host_unreachable`.
   */
  async read(from: number, waitMs = 0, signal?: AbortSignal): Promise<Piece> {
    const { data, missing } = await this.log({ from, waitMs }, signal);
    const bytes = Buffer.from(data, 'base64');
    return { data: bytes, from, to: missing?.to ?? from + bytes.length, ...(missing && { missing }) };
  }

  /** The same, of the bytes before `to` only: the host decides how much it sends. */
  async readUpTo(from: number, to: number): Promise<Piece> {
    return pieceUpTo(await this.read(from), to);
  }

  close(): void {
    this.isClosed = true;
    this.client.close();
  }

  private async log(
    body: HostVerbs['read']['request'],
    signal?: AbortSignal,
  ): Promise<HostVerbs['read']['answer']> {
    try {
      return await this.client.request('read', body, signal);
    } catch (err) {
      throw err instanceof HolderGone && !this.isClosed ? this.lost() : err;
    }
  }

  private lost(): HoldfastError {
    const reason = this.isSilent ? 'it has fallen silent' : 'its connection was lost';
    return unreachable(this.ref, reason, MAY_BE_SENT);
  }

  /** The host ends a connection whose terminal is gone; but it may have ended itself. */
  private async whatIsGone(err: HolderGone): Promise<Error> {
    if (this.isSilent) return this.lost();
    try {
      const again = await RemoteTerminal.open({ ...this.place, pulseMs: undefined });
      try {
        await again.client.request('attach', { typist: null, size: null });
      } finally {
        again.close();
      }
    } catch (reason) {
      if (reason instanceof HoldfastError) return reason.code === 'not_found' ? err : reason;
    }
    return this.lost();
  }

  private feelPulse(everyMs: number): void {
    let silent = 0;
    this.socket.on('data', () => (silent = 0));
    // Counted, not timed: this process may have been suspended itself.
    const pulse = setInterval(() => {
      this.isSilent = silent++ >= SILENT_PULSES;
      if (this.isSilent) this.socket.destroy();
      else this.client.request('read', { from: null, waitMs: 0 }).catch(() => undefined);
    }, everyMs).unref();
    this.socket.once('close', () => clearInterval(pulse));
  }
}

/** What a piece has of the bytes before `to`; a missing part stays whole. */
export const pieceUpTo = (piece: Piece, to: number): Piece =>
  piece.missing || piece.to <= to
    ? piece
    : { data: piece.data.subarray(0, to - piece.from), from: piece.from, to };

const MAY_BE_SENT = 'what was sent to it may have arrived';

/** `delivered` says what may have arrived. */
export const unreachable = ({ host }: SessionRef, reason: string, delivered: string): HoldfastError =>
  new HoldfastError('host_unreachable', { host, reason, delivered });

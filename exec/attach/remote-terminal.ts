// The client of a listening host: a connection to one session there, using the fingerprint that the host has announced
// and its token. Knows nothing about Temporal.
import { connect, type TLSSocket } from 'node:tls';
import { HoldfastError, isErrorCode, reasonOf, type ErrorFacts } from '../../contracts/errors/holdfast-error';
import type { SessionRef } from '../../contracts/ids';
import type { HostFacts } from '../../contracts/sessions/remote-hosts';
import type { MissingPart } from '../../contracts/sessions/missing-output';
import { isProof, newNonce, proofOf, type Handshake } from './attach-proof';
import { HolderClient, HolderGone } from '../client/holder-client';
import type { Piece } from '../output/log-reader';
import type { Verbs } from '../protocol';
import { readLine } from './read-line';

const CONNECT_MS = 5_000;
export const MAX_READ_BYTES = 256 * 1024;

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
}

export class RemoteTerminal {
  private constructor(
    readonly client: HolderClient<HostVerbs>,
    readonly ref: SessionRef,
  ) {}

  /**
   * The token is never sent: both sides prove that they have it. Throws `attach_refused` for a wrong fingerprint, for a
   * host that cannot prove it, and for the host's own refusals; `HolderGone` if nobody answers there.
   */
  static async open({ listens, token, ref }: RemotePlace): Promise<RemoteTerminal> {
    const socket = await reach(listens.address);
    try {
      const { fingerprint256 } = socket.getPeerCertificate();
      if (fingerprint256 !== listens.fingerprint) throw refused(ref.host, 'it shows another certificate');
      await introduce(socket, { fingerprint: listens.fingerprint, token, ref });
      const client = new HolderClient<HostVerbs>(socket, '');
      // Paused since its first line.
      socket.resume();
      return new RemoteTerminal(client, ref);
    } catch (err) {
      socket.destroy();
      throw err;
    }
  }

  /** Offset of the log's end. */
  async end(): Promise<number> {
    return (await this.client.request('read', { from: null, waitMs: 0 })).end;
  }

  /** The log's next piece, like `nextPiece`, at most 256 KiB; empty if nothing arrived within `waitMs`. */
  async read(from: number, waitMs = 0, signal?: AbortSignal): Promise<Piece> {
    const { data, missing } = await this.client.request('read', { from, waitMs }, signal);
    const bytes = Buffer.from(data, 'base64');
    return { data: bytes, from, to: missing?.to ?? from + bytes.length, ...(missing && { missing }) };
  }

  /** The same, of the bytes before `to` only: the host decides how much it sends. */
  async readUpTo(from: number, to: number): Promise<Piece> {
    const piece = await this.read(from);
    return piece.missing || piece.to <= to ? piece : { data: piece.data.subarray(0, to - from), from, to };
  }

  close(): void {
    this.client.close();
  }
}

async function introduce(
  socket: TLSSocket,
  { fingerprint, token, ref }: { fingerprint: string; token: string; ref: SessionRef },
): Promise<void> {
  const { host } = ref;
  const hear = async (): Promise<Answer> => {
    const said = await readLine(socket, CONNECT_MS).catch((err: unknown) => {
      throw refused(host, reasonOf(err));
    });
    const answer = (said ?? {}) as Answer;
    if (answer.error) throw known(answer.error, host);
    return answer;
  };
  const { hostNonce } = await hear();
  if (typeof hostNonce !== 'string') throw refused(host, 'it is of another release');
  const handshake: Handshake = { host, fingerprint, hostNonce, personNonce: newNonce() };
  const { personNonce } = handshake;
  socket.write(`${JSON.stringify({ ref, personNonce, proof: proofOf('person', token, handshake) })}\n`);
  const { proof } = await hear();
  if (!isProof(proof, 'host', token, handshake))
    throw refused(host, 'it cannot prove that it has the token: another machine impersonates this host');
}

interface Answer {
  hostNonce?: unknown;
  proof?: unknown;
  error?: { code?: unknown; facts?: ErrorFacts };
}

function reach(address: string): Promise<TLSSocket> {
  const [, host = '', port] = /^\[?(.*?)\]?:(\d+)$/.exec(address) ?? [];
  return new Promise((resolve, reject) => {
    // No authority vouches for the certificate. The host has announced its fingerprint by another route, and that is
    // compared.
    const socket = connect({ host, port: Number(port), rejectUnauthorized: false, minVersion: 'TLSv1.3' });
    const fail = (reason: string): void => {
      socket.destroy();
      reject(new HolderGone(reason));
    };
    const timer = setTimeout(() => fail(`nothing answers at ${address}`), CONNECT_MS);
    socket.once('error', (err: Error) => (clearTimeout(timer), fail(`${address}: ${err.message}`)));
    socket.once('secureConnect', () => {
      clearTimeout(timer);
      socket.removeAllListeners('error').on('error', () => socket.destroy());
      resolve(socket);
    });
  });
}

const refused = (host: string, reason: string): HoldfastError =>
  new HoldfastError('attach_refused', { host, reason });

function known({ code, facts }: { code?: unknown; facts?: ErrorFacts }, host: string): HoldfastError {
  return typeof code === 'string' && isErrorCode(code)
    ? HoldfastError.received(code, facts)
    : refused(host, 'it does not say why');
}

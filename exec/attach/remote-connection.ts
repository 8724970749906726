// A connection to a listening host, using the fingerprint that the host has announced and its token. Knows nothing about
// Temporal.
import { connect, type PeerCertificate, type TLSSocket } from 'node:tls';
import { HoldfastError, isErrorCode, reasonOf, type ErrorFacts } from '../../contracts/errors/holdfast-error';
import type { HostFacts } from '../../contracts/schemas/remote-hosts';
import { HolderGone } from '../client/holder-client';
import { isProof, newNonce, proofOf, type Handshake } from './attach-proof';
import { KEEP_ALIVE_MS } from './known-connections';
import { readLine } from './read-line';

const CONNECT_MS = 5_000;

export interface HostAddress {
  host: string;
  listens: NonNullable<HostFacts['listens']>;
  token: string;
}

/**
 * The socket behind the introduction, paused. The token is never sent: both sides prove that they have it.
 * @param wanted what the connection is for
 * Throws `attach_refused` for a wrong fingerprint, for a host that cannot prove it, and for the host's own refusals;
 * `HolderGone` if there is no answer.
 */
export async function connectToHost(at: HostAddress, wanted: object): Promise<TLSSocket> {
  const socket = await reach(at.listens.address);
  try {
    if (fingerprintOf(socket, at) !== at.listens.fingerprint)
      throw refused(at.host, 'it shows another certificate');
    await introduce(socket, at, wanted);
    return socket;
  } catch (err) {
    socket.destroy();
    throw err;
  }
}

/** Every server of TLS shows one: without one the connection is lost, which says nothing about who is there. */
function fingerprintOf(socket: TLSSocket, { listens }: HostAddress): string {
  // Null once the socket is destroyed, and empty while it is being closed: its type says neither.
  const shown = socket.getPeerCertificate() as Partial<PeerCertificate> | null;
  if (shown?.fingerprint256) return shown.fingerprint256;
  throw new HolderGone(`${listens.address}: the connection was lost while it was opened`);
}

async function introduce(
  socket: TLSSocket,
  { host, listens: { fingerprint }, token }: HostAddress,
  wanted: object,
): Promise<void> {
  const hear = async (): Promise<Answer> => {
    const said = await readLine(socket, CONNECT_MS).catch((err: unknown) => {
      // One that refuses says why.
      throw err instanceof HolderGone ? err : refused(host, reasonOf(err));
    });
    const answer = (said ?? {}) as Answer;
    if (answer.error) throw errorFrom(answer.error, host);
    return answer;
  };
  const { hostNonce } = await hear();
  if (typeof hostNonce !== 'string') throw refused(host, 'it is of another release');
  const handshake: Handshake = { host, fingerprint, hostNonce, personNonce: newNonce() };
  const { personNonce } = handshake;
  const proven = proofOf('person', token, handshake);
  socket.write(`${JSON.stringify({ ...wanted, personNonce, proof: proven })}\n`);
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
      // Who only watches sends nothing, and would not hear that the host is gone for good.
      socket.setKeepAlive(true, KEEP_ALIVE_MS);
      resolve(socket);
    });
  });
}

const refused = (host: string, reason: string): HoldfastError =>
  new HoldfastError('attach_refused', { host, reason });

/** The error that a host has answered with. */
export function errorFrom(
  { code, facts }: { code?: unknown; facts?: ErrorFacts },
  host: string,
): HoldfastError {
  return typeof code === 'string' && isErrorCode(code)
    ? HoldfastError.received(code, facts)
    : refused(host, 'it does not say why');
}

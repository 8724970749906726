// How both sides of a connection to a host prove that they have its token, without sending it: a machine that
// impersonates the host learns nothing that it could use against it. After SCRAM (RFC 5802), with a random token in
// place of a password and the certificate's fingerprint as the channel binding.
import { createHmac, randomBytes } from 'node:crypto';
import { isSameToken } from '../../system/same-token';

const NONCE_BYTES = 32;

/** What both sides know about one connection. */
export interface Handshake {
  host: string;
  /** Of the certificate that the host presents here: a proof for one certificate is invalid for another. */
  fingerprint: string;
  /** One nonce per side, so that no proof can be replayed. */
  hostNonce: string;
  personNonce: string;
}

export const newNonce = (): string => randomBytes(NONCE_BYTES).toString('base64url');

/** Proof that `side` has the token. */
export function proofOf(side: 'host' | 'person', token: string, handshake: Handshake): string {
  const { host, fingerprint, hostNonce, personNonce } = handshake;
  const said = JSON.stringify(['holdfast attach', side, host, fingerprint, hostNonce, personNonce]);
  return createHmac('sha256', token).update(said).digest('base64url');
}

/** An empty token proves nothing. */
export const isProof = (
  got: unknown,
  side: 'host' | 'person',
  token: string,
  handshake: Handshake,
): boolean => token !== '' && typeof got === 'string' && isSameToken(got, proofOf(side, token, handshake));

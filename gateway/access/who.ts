// Who makes a request: a program by its token, a person's browser by the cookie of its log-in.
import type { IncomingHttpHeaders } from 'node:http';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { OidcAccess } from '../oidc/oidc-access';
import type { Caller } from './grants';
import type { TokenStore } from './token-store';

/** What identifies a caller. */
export interface Registers {
  tokens: TokenStore;
  /** Null: no issuer is configured. */
  oidc: OidcAccess | null;
}

export const portOf = (host = ''): string => /:(\d+)$/.exec(host)?.[1] ?? '80';

/** Different for each port: cookies know only hosts, and two data folders have two gateways. */
const cookieName = (host: string | undefined): string => `holdfast_${portOf(host)}`;

export function cookieIn({ cookie }: IncomingHttpHeaders, name: string): string | undefined {
  const [, value] = new RegExp(`(?:^|; *)${name}=([^;]*)`).exec(cookie ?? '') ?? [];
  return value;
}

export const cookieOf = (headers: IncomingHttpHeaders): string | undefined =>
  cookieIn(headers, cookieName(headers.host));

/** The bearer token of a request (RFC 6750), never one in its address, which is logged. */
const bearerOf = ({ authorization }: IncomingHttpHeaders): string | undefined =>
  /^Bearer +([\w.~+/=-]+) *$/i.exec(authorization ?? '')?.[1];

/** Throws `access_needed`, and of an issuer's token also `access_denied` and `issuer_failed`. */
export async function callerOf(headers: IncomingHttpHeaders, { tokens, oidc }: Registers): Promise<Caller> {
  const bearer = bearerOf(headers);
  const cookie = cookieOf(headers);
  if (bearer !== undefined && oidc?.takes(bearer)) return oidc.callerWith(bearer);
  const caller =
    bearer === undefined
      ? cookie && tokens.callerWith(cookie, ['browser'])
      : tokens.callerWith(bearer, ['token']);
  if (caller) return caller;
  const reason =
    (bearer ?? cookie) === undefined
      ? 'the request has none'
      : 'the one given is unknown, revoked or expired';
  throw new HoldfastError('access_needed', { reason });
}

/** A token may be revoked, or expire, while a stream or a terminal is open. */
const LOOK_MS = 1_000;

interface Watch {
  headers: IncomingHttpHeaders;
  registers: Registers;
  /** Called once, when the token no longer holds. */
  refused: (err: unknown) => void;
}

/** Looks after a connection's token; returns the function that stops it. */
export function watchCaller({ expiresAt }: Caller, { headers, registers, refused }: Watch): () => void {
  let isLooking = false;
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    void callerOf(headers, registers)
      .catch((err: unknown) => {
        // That the issuer is away is no reason to end what it has allowed, until that expires.
        const isAway = err instanceof HoldfastError && err.code === 'issuer_failed';
        if (isAway && expiresAt !== null && Date.parse(expiresAt) > Date.now()) return;
        clearInterval(timer);
        refused(err);
      })
      .finally(() => (isLooking = false));
  }, LOOK_MS);
  return () => clearInterval(timer);
}

/** `Set-Cookie`; Secure where a proxy in front of us ends TLS, as the page's origin shows. */
export function cookieFor(
  { host, origin }: IncomingHttpHeaders,
  token: string,
  maxAgeMs: number,
  isSecure = origin?.startsWith('https:') ?? false,
): string {
  const age = `Max-Age=${Math.floor(maxAgeMs / 1_000)}`;
  const parts = [`${cookieName(host)}=${token}`, 'Path=/', 'HttpOnly', 'SameSite=Strict', age];
  return [...parts, ...(isSecure ? ['Secure'] : [])].join('; ');
}

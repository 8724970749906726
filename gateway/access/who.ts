// Who makes a request: a program by its token, a person's browser by the cookie of its log-in.
import type { IncomingHttpHeaders } from 'node:http';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { Caller } from './grants';
import type { TokenStore } from './token-store';

/** Different for each port: cookies know only hosts, and two data folders have two gateways. */
const cookieName = (host: string): string => `holdfast_${/:(\d+)$/.exec(host)?.[1] ?? '80'}`;

export function cookieOf({ cookie, host }: IncomingHttpHeaders): string | undefined {
  const [, value] = new RegExp(`(?:^|; *)${cookieName(host ?? '')}=([^;]*)`).exec(cookie ?? '') ?? [];
  return value;
}

/** The bearer token of a request (RFC 6750), never one in its address, which is logged. */
const bearerOf = ({ authorization }: IncomingHttpHeaders): string | undefined =>
  /^Bearer +([\w.~+/=-]+) *$/i.exec(authorization ?? '')?.[1];

/** Throws `access_needed`. Asked again later it tells whether the token still holds. */
export function callerOf(headers: IncomingHttpHeaders, tokens: TokenStore): Caller {
  const bearer = bearerOf(headers);
  const cookie = cookieOf(headers);
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

/** `Set-Cookie`; Secure where a proxy in front of us ends TLS, as the page's origin shows. */
export function cookieFor(
  { host = '', origin }: IncomingHttpHeaders,
  token: string,
  maxAgeMs: number,
): string {
  const age = `Max-Age=${Math.floor(maxAgeMs / 1_000)}`;
  const parts = [`${cookieName(host)}=${token}`, 'Path=/', 'HttpOnly', 'SameSite=Strict', age];
  return [...parts, ...(origin?.startsWith('https:') ? ['Secure'] : [])].join('; ');
}

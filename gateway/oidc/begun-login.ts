// What a log-in that has begun must prove at its end, kept by the browser that began it: so an answer of the issuer that
// somebody else has got is worth nothing in another browser, and any gateway can finish it.
import type { IncomingHttpHeaders } from 'node:http';
import { cookieIn, portOf } from '../access/who';
import type { BegunLogin } from './oidc-access';

const PATH = '/login/oidc';
const VALID_SEC = 10 * 60;
const PART = /^[\w.~-]{20,200}$/;

const nameFor = (host: string | undefined): string => `holdfast_oidc_${portOf(host)}`;

/** `Set-Cookie`; Lax, because the issuer's page leads back here. Null removes it. */
export function begunCookie(
  { host }: IncomingHttpHeaders,
  begun: BegunLogin | null,
  isSecure: boolean,
): string {
  const value = begun ? Buffer.from(JSON.stringify(begun)).toString('base64url') : '';
  const age = `Max-Age=${begun ? VALID_SEC : 0}`;
  const parts = [`${nameFor(host)}=${value}`, `Path=${PATH}`, 'HttpOnly', 'SameSite=Lax', age];
  return [...parts, ...(isSecure ? ['Secure'] : [])].join('; ');
}

/** Undefined if this browser has begun none. */
export function begunLogin(headers: IncomingHttpHeaders): BegunLogin | undefined {
  const text = cookieIn(headers, nameFor(headers.host));
  if (text === undefined) return undefined;
  try {
    const begun = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as Partial<BegunLogin>;
    const { state, nonce, verifier, next } = begun;
    const isWhole = [state, nonce, verifier].every((part) => PART.test(String(part)));
    return isWhole && typeof next === 'string' ? (begun as BegunLogin) : undefined;
  } catch {
    return undefined;
  }
}

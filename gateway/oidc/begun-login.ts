// What a log-in that has begun must prove at its end, kept by the browser that began it: so an answer of the issuer that
// somebody else has got is worth nothing in another browser, and any gateway can finish it.
import type { IncomingHttpHeaders } from 'node:http';
import { cookieIn, portOf } from '../access/who';
import type { BegunLogin } from './oidc-access';

const PATH = '/login/oidc';
const VALID_SEC = 10 * 60;
const PART = /^[\w.~-]{20,200}$/;

/** As it is made here, in base64url. */
const STATE = /^[\w-]{20,200}$/;
const STATE_CHARACTERS = 12;

/** One for each log-in: two tabs of a browser may each have begun one. */
const nameFor = (host: string | undefined, state: string): string =>
  `holdfast_oidc_${portOf(host)}_${state.slice(0, STATE_CHARACTERS)}`;

/** `Set-Cookie`; Lax, because the issuer's page leads back here. */
export const begunCookie = (headers: IncomingHttpHeaders, begun: BegunLogin, isSecure: boolean): string =>
  cookie({
    name: nameFor(headers.host, begun.state),
    value: Buffer.from(JSON.stringify(begun)).toString('base64url'),
    ageSec: VALID_SEC,
    isSecure,
  });

/** `Set-Cookie` that removes it. */
export const overCookie = (headers: IncomingHttpHeaders, { state }: BegunLogin, isSecure: boolean): string =>
  cookie({ name: nameFor(headers.host, state), value: '', ageSec: 0, isSecure });

function cookie(given: {
  name: string | undefined;
  value: string;
  ageSec: number;
  isSecure: boolean;
}): string {
  const { name = 'holdfast_oidc', value, ageSec, isSecure } = given;
  const parts = [`${name}=${value}`, `Path=${PATH}`, 'HttpOnly', 'SameSite=Lax', `Max-Age=${ageSec}`];
  return [...parts, ...(isSecure ? ['Secure'] : [])].join('; ');
}

/** Undefined if this browser has not begun the log-in with this state. */
export function begunLogin(headers: IncomingHttpHeaders, state: string): BegunLogin | undefined {
  const text = STATE.test(state) ? cookieIn(headers, nameFor(headers.host, state)) : undefined;
  if (text === undefined) return undefined;
  try {
    const begun = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as Partial<BegunLogin>;
    const { state: own, nonce, verifier, next } = begun;
    const isWhole = [own, nonce, verifier].every((part) => PART.test(String(part)));
    return isWhole && typeof next === 'string' ? (begun as BegunLogin) : undefined;
  } catch {
    return undefined;
  }
}

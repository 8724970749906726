// The log-in of browsers by the organization's OpenID Connect issuer.
import { html } from 'hono/html';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { z } from '../../contracts/schemas/zod';
import { cookieFor } from '../access/who';
import type { GatewayContext } from '../gateway-context';
import { problemOf } from '../http/problem';
import { route, type Asked, type Connection } from '../http/route';
import { begunCookie, begunLogin, overCookie } from '../oidc/begun-login';
import { CALLBACK_PATH, type OidcAccess } from '../oidc/oidc-access';

const tag = 'access';
const BEGIN_PATH = '/login/oidc';
const text = z.string();

const ways = route(
  {
    name: 'listLogins',
    ...{ method: 'GET', path: '/v1/login', tag, role: 'none' },
    summary: 'How a browser can log in, beside tokens',
    answer: z.object({ oidc: z.nullable(z.object({ name: text, path: text })) }),
  },
  ({ context: { oidc } }) =>
    Promise.resolve({ oidc: oidc && { name: oidc.settings.name, path: BEGIN_PATH } }),
);

/** A place on our own page, as its fragment has it: so it can lead nowhere else. */
const PLACE = /^[\w%.~-]+(\/[\w%.~-]+)*(\?[\w%.~=&-]*)?$/;
/** It is in a cookie as long as the browser is at the issuer. */
const MAX_PLACE_CHARS = 500;
const placeIn = (next = ''): string => (next.length <= MAX_PLACE_CHARS && PLACE.test(next) ? next : '');

const begin = route(
  {
    name: 'beginLogin',
    ...{ method: 'GET', path: BEGIN_PATH, tag, role: 'none', status: 302 },
    summary: 'Send a browser to the OpenID Connect issuer, if one is configured',
    description:
      '`next` is the place on the page to go on at, such as `agents/builder`. What is no place is left out.',
    query: z.strictObject({ next: z.optional(text), moved: z.optional(z.literal('1')) }),
  },
  (asked) =>
    forPerson(asked, async () => {
      const oidc = configured(asked.context);
      const { moved } = asked.query;
      const next = placeIn(asked.query.next);
      const { origin, isSecure, headers } = originOf(oidc, asked.connection);
      // The issuer leads back to the public address, where the cookie of another name would be missing. Only once: a
      // proxy may ask under its own name for whatever name the browser has.
      if (moved === undefined && new URL(origin).host !== headers.host)
        return redirect(`${origin}${BEGIN_PATH}?moved=1${next && `&next=${encodeURIComponent(next)}`}`, []);
      const { address, begun } = await oidc.begin(origin, next);
      return redirect(address, [begunCookie(headers, begun, isSecure)]);
    }),
);

const finish = route(
  {
    name: 'finishLogin',
    ...{ method: 'GET', path: CALLBACK_PATH, tag, role: 'none', status: 302 },
    summary: 'Where the issuer sends the browser back to: logs it in',
    query: z.looseObject({ code: z.optional(text), state: z.optional(text) }),
  },
  (asked) =>
    forPerson(asked, async () => {
      const { context, connection, query } = asked;
      const oidc = configured(context);
      const { origin, isSecure, headers } = originOf(oidc, connection);
      const begun = begunLogin(headers, query.state ?? '');
      if (!begun)
        throw new HoldfastError('access_needed', {
          reason: 'this answer of the issuer belongs to no log-in that this browser has begun',
        });
      const person = await oidc.finish(origin, new URLSearchParams(query as Record<string, string>), begun);
      const { token, validMs } = await context.tokens.logInAs(person, oidc.settings.loginMs);
      context.audit.write({
        ...{ who: person.id, name: person.name, from: connection.address },
        ...{ what: `GET ${CALLBACK_PATH}`, path: CALLBACK_PATH, status: 302 },
      });
      const page = begun.next === '' ? '/' : `/#/${begun.next}`;
      return redirect(page, [
        overCookie(headers, begun, isSecure),
        cookieFor(headers, token, validMs, isSecure),
      ]);
    }),
);

function configured({ oidc }: GatewayContext): OidcAccess {
  if (oidc) return oidc;
  throw new HoldfastError('not_found', {
    what: 'The log-in by OpenID Connect',
    got: BEGIN_PATH,
    next: 'Configure [gateway.oidc] in holdfast.toml (docs/api.md), or use the link of `holdfast ui`.',
  });
}

/** The name was judged before: it is one that we serve. */
function originOf(
  { settings: { publicUrl } }: OidcAccess,
  { headers }: Connection,
): { origin: string; isSecure: boolean; headers: Connection['headers'] } {
  const origin = publicUrl ?? `http://${headers.host ?? ''}`;
  return { origin, isSecure: origin.startsWith('https:'), headers };
}

function redirect(to: string, cookies: readonly string[]): Response {
  const headers = new Headers({ Location: to, 'Cache-Control': 'no-store' });
  for (const cookie of cookies) headers.append('Set-Cookie', cookie);
  return new Response(null, { status: 302, headers });
}

/** These paths are opened by people: a problem is a page then, with the problem's status. */
async function forPerson(
  { connection: { headers } }: Asked<string, unknown, unknown>,
  work: () => Promise<Response>,
): Promise<Response> {
  try {
    return await work();
  } catch (err) {
    if (!headers.accept?.includes('text/html')) throw err;
    const { status, title, detail, next } = problemOf(err);
    const page = await html`<!doctype html>
      <html lang="en">
        <meta charset="utf-8" />
        <title>Holdfast: ${title}</title>
        <h1>You are not logged in</h1>
        <p>${detail}</p>
        <p>${next}</p>
        <p><a href="/">Back to the page</a></p>
      </html>`;
    return new Response(page, {
      status,
      headers: { 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store' },
    });
  }
}

export const OIDC_ROUTES = [ways, begin, finish];

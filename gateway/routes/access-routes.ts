// Who one is, and the tokens of others.
import * as shapes from '../../contracts/schemas/http-api';
import { z } from '../../contracts/schemas/zod';
import { ownRelease } from '../../system/package-root';
import { ALL_AGENTS } from '../../contracts/text/glob';
import { ROLES } from '../../contracts/gateway/api';
import { cookieFor, cookieOf } from '../access/who';
import { route } from '../http/route';

const tag = 'access';

const me = route(
  {
    name: 'whoAmI',
    ...{ method: 'GET', path: '/v1/me', tag, role: 'viewer' },
    summary: 'Who this token is, and what it may do',
    answer: shapes.me,
  },
  async ({ caller: { name, role, agents, expiresAt }, context }) => ({
    ...{ name, role, agents: [...agents], expiresAt },
    release: { version: ownRelease().version },
    namespace: context.namespace,
    temporalUi: context.workflowAddress('ID')?.replace(/ID$/, '{workflowId}') ?? null,
  }),
);

const login = route(
  {
    name: 'logIn',
    ...{ method: 'POST', path: '/v1/login', tag, role: 'none' },
    summary: 'Exchange a token, or that of a link, for a cookie: for browsers',
    body: shapes.loginBody,
    isSecret: true,
    answer: shapes.loggedIn,
    example: { token: 'hf_...' },
  },
  async ({ body, context, connection: { address, headers } }) => {
    // Only a wrong one waits: behind a proxy everybody has the proxy's address.
    if (!context.tokens.canLogIn(body.token)) context.failedLogins.check(address);
    const { token, caller, validMs } = await context.tokens.logIn(body.token).catch((err: unknown) => {
      context.failedLogins.add(address);
      throw err;
    });
    return Response.json(
      { name: caller.name, role: caller.role },
      { headers: { 'Set-Cookie': cookieFor(headers, token, validMs), 'Cache-Control': 'no-store' } },
    );
  },
);

const logout = route(
  {
    name: 'logOut',
    ...{ method: 'POST', path: '/v1/logout', tag, role: 'none', status: 204 },
    summary: 'End the log-in of this browser',
    audits: true,
  },
  async ({ context, connection: { address, headers } }) => {
    const token = cookieOf(headers);
    const caller = token && (await context.tokens.logOut(token));
    if (caller)
      context.audit.write({
        ...{ who: caller.id, name: caller.name, from: address },
        ...{ what: 'POST /v1/logout', path: '/v1/logout', status: 204 },
      });
    return new Response(null, { status: 204, headers: { 'Set-Cookie': cookieFor(headers, '', 0) } });
  },
);

const text = z.string();
const token = z.object({
  ...{ id: text, name: text, role: z.enum(ROLES), agents: z.array(text) },
  ...{ createdAt: text, expiresAt: z.nullable(text) },
});

const list = route(
  {
    name: 'listTokens',
    ...{ method: 'GET', path: '/v1/tokens', tag, role: 'admin' },
    summary: 'Tokens, without their secrets',
    answer: z.object({ items: z.array(token), next: z.nullable(text) }),
  },
  async ({ context }) => ({
    items: context.tokens.list().map((one) => ({ ...one, agents: [...one.agents] })),
    next: null,
  }),
);

const create = route(
  {
    name: 'createToken',
    ...{ method: 'POST', path: '/v1/tokens', tag, role: 'admin', status: 201 },
    summary: 'Create a token; this answer is the only place where it is shown',
    body: z.strictObject({
      name: text.check(z.minLength(1), z.maxLength(100)),
      role: z.enum(ROLES),
      agents: z.optional(z.array(text).check(z.minLength(1), z.maxLength(100))),
      validMs: z.optional(z.nullable(z.int().check(z.minimum(1_000), z.maximum(10 * 366 * 86_400_000)))),
    }),
    answer: z.extend(token, { token: text }),
    example: { name: 'dashboards', role: 'viewer' as const, agents: ['team-a-*'], validMs: 86_400_000 },
  },
  async ({ body: { name, role, agents = [ALL_AGENTS], validMs = null }, context }) => {
    const { token: secret, stored } = await context.tokens.create({ name, role, agents, validMs });
    return { ...stored, agents: [...stored.agents], token: secret };
  },
);

const revoke = route(
  {
    name: 'revokeToken',
    ...{ method: 'DELETE', path: '/v1/tokens/{id}', tag, role: 'admin', status: 204 },
    summary: 'Revoke a token, and the log-ins made with it, at once',
  },
  async ({ params, context }) => {
    await context.tokens.revoke(params.id);
  },
);

export const ACCESS_ROUTES = [login, logout, me, list, create, revoke];

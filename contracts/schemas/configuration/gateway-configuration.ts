// Shape of `[gateway]` in `holdfast.toml`. It says where the client's secret is and holds none.
import { ROLES } from '../../gateway/api';
import { AGENT_PATTERN, ALL_AGENTS } from '../../text/glob';
import { z } from '../zod';

const text = z.string().check(z.minLength(1));
const MAX_LOGIN_HOURS = 31 * 24;

/** Everything that is secret goes through this address. */
function isSafe(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  const isHere = ['127.0.0.1', 'localhost', '[::1]'].includes(hostname);
  return protocol === 'https:' || (protocol === 'http:' && isHere);
}

const safeUrl = z
  .string()
  .check(z.refine(isSafe, { error: 'must be an https URL; http is for this machine only' }));

const pattern = z
  .string()
  .check(z.regex(AGENT_PATTERN, { error: 'must be an id, in which "*" stands for any characters' }));

export const oidcRoleSchema = z
  .strictObject({
    role: z.enum(ROLES, { error: `must be one of ${ROLES.map((role) => `"${role}"`).join(', ')}` }),
    agents: z._default(z.array(pattern).check(z.minLength(1)), [ALL_AGENTS]),
  })
  .check(
    z.refine(({ role, agents }) => role !== 'admin' || agents.includes(ALL_AGENTS), {
      error: 'is an admin of some agents, allowed an admin of all: one can make tokens for all agents',
    }),
  );

export const oidcSchema = z
  .strictObject({
    issuer: safeUrl,
    name: z.optional(text),
    client_id: text,
    client_secret_env: z.optional(text),
    client_secret_file: z.optional(text),
    audience: z.optional(text),
    scopes: z._default(z.array(text), ['openid', 'profile', 'email']),
    claim: z._default(text, 'groups'),
    roles: z.record(text, oidcRoleSchema),
    login_hours: z._default(z.number().check(z.positive(), z.maximum(MAX_LOGIN_HOURS)), 12),
    public_url: z.optional(safeUrl),
  })
  .check(
    z.refine(
      ({ client_secret_env: variable, client_secret_file: file }) =>
        variable === undefined || file === undefined,
      { error: 'has both, allowed one of "client_secret_env" and "client_secret_file"' },
    ),
    // Otherwise the ID token of any log-in, which browsers and logs may have, would open the API.
    z.refine(({ audience, client_id: id }) => audience !== id, {
      error: 'has the client_id as "audience", allowed another one: an ID token must not open the API',
    }),
    z.refine(({ scopes }) => scopes.includes('openid'), {
      error: 'has "scopes" without "openid", allowed with it',
    }),
  );

export const gatewaySchema = z.strictObject({ oidc: z.optional(oidcSchema) });

export type GatewayEntry = z.infer<typeof gatewaySchema>;

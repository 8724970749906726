// What a token allows: a role, and the agents that it covers. Pure.
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { ROLES, type Role } from '../../contracts/gateway/api';
import { ALL_AGENTS, isMatch } from '../../contracts/text/glob';

export interface Grant {
  role: Role;
  /** Patterns of agent ids, in which `*` stands for any characters; those below an agent have ids of their own. */
  agents: readonly string[];
}

/** Who makes a request. */
export interface Caller extends Grant {
  /** The token's id. */
  id: string;
  name: string;
  /** ISO 8601; null: never. */
  expiresAt: string | null;
}

/**
 * An admin makes tokens for any agent, so limiting one to some agents would limit nothing: there is no such grant
 * (docs/decisions/0014-http-api-web-ui-and-file-copies.md).
 */
export const isLimitedAdmin = ({ role, agents }: Grant): boolean =>
  role === 'admin' && !agents.includes(ALL_AGENTS);

export const mayUse = ({ agents }: Grant, agent: string): boolean =>
  agents.some((pattern) => isMatch(pattern, agent));

export const hasRole = ({ role }: Grant, needed: Role): boolean =>
  ROLES.indexOf(role) >= ROLES.indexOf(needed);

/** Throws `access_denied`. */
export function requireRole(caller: Caller, needed: Role, what: string): void {
  if (hasRole(caller, needed)) return;
  const allowed = needed === 'admin' ? 'an admin' : 'an operator or an admin';
  throw new HoldfastError('access_denied', { what, got: `the role ${caller.role}`, allowed });
}

/**
 * A token for some agents reaches files by its agents' folders alone: elsewhere may be what opens other agents. Throws
 * `access_denied`.
 */
export function requireOwnContext({ agents }: Grant, context: readonly string[] = []): void {
  if (agents.includes(ALL_AGENTS)) return;
  const got = context.find((path) => path.startsWith('/') || path.split('/').includes('..'));
  if (got === undefined) return;
  throw new HoldfastError('access_denied', {
    what: 'A context file outside of the agent’s folder',
    got: `${got}, and a token for ${agents.join(', ')}`,
    allowed: 'paths below the agent’s folder, without ".."',
  });
}

/** Throws `access_denied`, the same whether the agent exists or not. */
export function requireAgent(caller: Caller, agent: string): void {
  if (mayUse(caller, agent)) return;
  throw new HoldfastError('access_denied', {
    what: `Agent ${agent}`,
    got: `a token for ${caller.agents.join(', ')}`,
    allowed: 'agents that the token names',
  });
}

// What a token allows: a role, and the agents that it covers. Pure.
import { HoldfastError } from '../../contracts/errors/holdfast-error';

/** Each may do what those before it may. A viewer reads; an operator changes agents; an admin manages tokens. */
export const ROLES = ['viewer', 'operator', 'admin'] as const;
export type Role = (typeof ROLES)[number];

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

export const AGENT_PATTERN = /^[a-z0-9_*-]{1,63}$/;
export const ALL_AGENTS = '*';

export const mayUse = ({ agents }: Grant, agent: string): boolean =>
  agents.some((pattern) => isMatch(pattern, agent));

function isMatch(pattern: string, agent: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  if (rest.length === 0) return pattern === agent;
  if (!agent.startsWith(first)) return false;
  const last = rest.pop() ?? '';
  let at = first.length;
  for (const part of rest) {
    const found = agent.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return agent.length - at >= last.length && agent.endsWith(last);
}

export const hasRole = ({ role }: Grant, needed: Role): boolean =>
  ROLES.indexOf(role) >= ROLES.indexOf(needed);

/** Throws `access_denied`. */
export function requireRole(caller: Caller, needed: Role, what: string): void {
  if (hasRole(caller, needed)) return;
  const allowed = needed === 'admin' ? 'an admin' : 'an operator or an admin';
  throw new HoldfastError('access_denied', { what, got: `the role ${caller.role}`, allowed });
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

// What the claims of a person or program allow here. Pure.
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { OidcSettings } from '../../contracts/gateway/oidc';
import { ROLES } from '../../contracts/gateway/api';
import type { Caller, Grant } from '../access/grants';
import { beginningOf } from '../../contracts/text/well-formed';

export type Claims = Readonly<Record<string, unknown>>;

const MAX_NAME_CHARS = 100;
/** In this order; the subject is last, for it says nothing to people. */
const NAMES = ['preferred_username', 'email', 'name', 'client_id', 'sub'];

/**
 * The highest role of all values, for the agents of the values with that role: it is never more than one value allows.
 * Throws `access_denied`, which names the claim.
 */
export function grantOf(claims: Claims, { issuer, claim, grants }: OidcSettings): Grant {
  const values = valuesOf(claims, claim);
  const matching = grants.filter(({ value }) => values.includes(value));
  const [role] = ROLES.filter((one) => matching.some((grant) => grant.role === one)).reverse();
  if (role)
    return { role, agents: matching.filter((grant) => grant.role === role).flatMap(({ agents }) => agents) };
  throw new HoldfastError('access_denied', {
    what: `What ${issuer} says of ${JSON.stringify(nameOf(claims))}`,
    got: values.length === 0 ? `no claim "${claim}"` : `the claim "${claim}" with ${shown(values)}`,
    allowed: `a value of "${claim}" that [gateway.oidc.roles] has`,
    next: 'Ask an administrator of the issuer or of this gateway, and log in again.',
  });
}

/** A text or a list of texts; below other tables if the name has dots, as in `realm_access.roles`. */
export function valuesOf(claims: Claims, claim: string): string[] {
  const found = Object.hasOwn(claims, claim) ? claims[claim] : below(claims, claim.split('.'));
  return (Array.isArray(found) ? found : [found]).filter((one) => typeof one === 'string');
}

function below(claims: unknown, path: readonly string[]): unknown {
  const [first, ...rest] = path;
  if (first === undefined) return claims;
  const isTable = typeof claims === 'object' && claims !== null && Object.hasOwn(claims, first);
  return isTable ? below((claims as Claims)[first], rest) : undefined;
}

const shown = (values: readonly string[]): string =>
  values.length > 20 ? `${values.length} values` : values.map((value) => JSON.stringify(value)).join(', ');

/** The id is the subject, which the issuer never gives to somebody else; the name is for people. */
export function identityOf(claims: Claims & { sub: string }): Pick<Caller, 'id' | 'name'> {
  return { id: `oidc:${claims.sub}`, name: nameOf(claims) };
}

function nameOf(claims: Claims): string {
  const [found = 'somebody'] = NAMES.map((name) => claims[name]).filter(
    (one) => typeof one === 'string' && one !== '',
  );
  return beginningOf(found as string, MAX_NAME_CHARS);
}

// `[gateway]` of `holdfast.toml`: who is let in by the organization's OpenID Connect issuer. Reads no secret.
import { resolve } from 'node:path';
import type { OidcChoice } from '../../contracts/gateway/oidc';
import {
  oidcRoleSchema,
  oidcSchema,
  type GatewayEntry,
} from '../../contracts/schemas/configuration/gateway-configuration';

export interface GatewaySettings {
  /** Null: tokens and links only. */
  oidc: OidcChoice | null;
}

/** Paths are relative to `folder`. */
export function configuredGateway({ oidc }: GatewayEntry, folder: string): GatewaySettings {
  if (!oidc) return { oidc: null };
  const { client_secret_env: variable, client_secret_file: file } = oidc;
  return {
    oidc: {
      issuer: oidc.issuer,
      name: oidc.name ?? new URL(oidc.issuer).host,
      clientId: oidc.client_id,
      clientSecret:
        variable !== undefined ? { variable } : file === undefined ? null : { file: resolve(folder, file) },
      audience: oidc.audience ?? null,
      scopes: oidc.scopes,
      claim: oidc.claim,
      grants: Object.entries(oidc.roles).map(([value, { role, agents }]) => ({ value, role, agents })),
      loginMs: Math.ceil(oidc.login_hours * 3_600_000),
      publicUrl: oidc.public_url?.replace(/\/+$/, '') ?? null,
    },
  };
}

/** Keys allowed in the table at this place of the file. */
export function gatewayKeys([, part, table, value]: readonly PropertyKey[]): string[] {
  if (part === undefined) return ['oidc'];
  return Object.keys((table === 'roles' && value !== undefined ? oidcRoleSchema : oidcSchema).shape);
}

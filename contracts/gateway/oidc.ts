// How people and programs of an organization are let in: by its OpenID Connect issuer. Plain data; it holds no secret.
import type { Role } from './api';

export interface OidcChoice {
  /** As it names itself in its tokens. */
  issuer: string;
  /** What the page's log-in calls it. */
  name: string;
  clientId: string;
  /** Null: a public client, which proves itself by PKCE alone. */
  clientSecret: { variable: string } | { file: string } | null;
  /** The audience of the access tokens that programs send; null: none are accepted. */
  audience: string | null;
  scopes: readonly string[];
  /** The claim whose values are looked up in `grants`. */
  claim: string;
  grants: readonly ClaimGrant[];
  /** How long a browser stays logged in, at most. */
  loginMs: number;
  /** Where browsers reach the gateway; null: at the name that they ask for, without TLS. */
  publicUrl: string | null;
}

/** What a value of the claim allows. */
export interface ClaimGrant {
  value: string;
  role: Role;
  /** Patterns of agent ids. */
  agents: readonly string[];
}

export interface OidcSettings extends Omit<OidcChoice, 'clientSecret'> {
  clientSecret: string | null;
}

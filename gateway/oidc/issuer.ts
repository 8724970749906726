// The organization's OpenID Connect issuer: what it says of itself (OpenID Connect Discovery 1.0), and its keys, both
// fetched when they are first needed, so that the gateway starts and serves tokens while the issuer is away.
import { createRemoteJWKSet, type JWTVerifyGetKey } from 'jose';
import * as client from 'openid-client';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import type { OidcSettings } from '../../contracts/gateway/oidc';

const TIMEOUT_SEC = 10;
/** An issuer that is away is asked again after this, not by each request. */
const PAUSE_MS = 2_000;

export interface Issuer {
  config: client.Configuration;
  keys: JWTVerifyGetKey;
}

export class IssuerAccess {
  private found: Promise<Issuer> | undefined;

  constructor(private readonly settings: OidcSettings) {}

  /** Throws `issuer_failed`. */
  get(): Promise<Issuer> {
    this.found ??= this.discover().catch((err: unknown) => {
      setTimeout(() => (this.found = undefined), PAUSE_MS).unref();
      throw this.failure(err);
    });
    return this.found;
  }

  failure(err: unknown): HoldfastError {
    return new HoldfastError('issuer_failed', { issuer: this.settings.issuer, reason: reasonWithCause(err) });
  }

  private async discover(): Promise<Issuer> {
    const { issuer, clientId } = this.settings;
    // Of this machine only: the configuration refuses it elsewhere.
    const execute = issuer.startsWith('http:') ? [client.allowInsecureRequests] : [];
    const options = { execute, timeout: TIMEOUT_SEC };
    const found = await client.discovery(new URL(issuer), clientId, undefined, client.None(), options);
    const facts = found.serverMetadata();
    if (facts.issuer !== issuer) throw new Error(`it names itself ${facts.issuer}`);
    if (facts.jwks_uri === undefined) throw new Error('it names no keys (jwks_uri)');
    const config = new client.Configuration(facts, clientId, undefined, this.authentication(facts));
    config.timeout = TIMEOUT_SEC;
    for (const each of execute) each(config);
    // Also where TLS has shown already whom the ID token comes from.
    client.enableNonRepudiationChecks(config);
    const keys = createRemoteJWKSet(new URL(facts.jwks_uri), { timeoutDuration: TIMEOUT_SEC * 1_000 });
    return { config, keys };
  }

  /** An issuer that does not say takes HTTP Basic (OpenID Connect Discovery 1.0, 3). */
  private authentication(facts: client.ServerMetadata): client.ClientAuth {
    const { clientSecret } = this.settings;
    if (clientSecret === null) return client.None();
    const { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] } = facts;
    return methods.includes('client_secret_basic')
      ? client.ClientSecretBasic(clientSecret)
      : client.ClientSecretPost(clientSecret);
  }
}

/** `fetch` says why in the cause. */
function reasonWithCause(err: unknown): string {
  const cause = err instanceof Error && err.cause instanceof Error ? ` (${reasonOf(err.cause)})` : '';
  return `${reasonOf(err)}${cause}`;
}

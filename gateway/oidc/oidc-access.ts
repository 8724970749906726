// Lets people and programs in by the organization's issuer: programs by access tokens that are JWTs (RFC 9068), people's
// browsers by the authorization code flow with PKCE, state and nonce (OpenID Connect Core 1.0, 3.1).
import { createHash } from 'node:crypto';
import { errors, jwtVerify, type JWTPayload } from 'jose';
import * as client from 'openid-client';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { OidcSettings } from '../../contracts/gateway/oidc';
import type { Caller, Grant } from '../access/grants';
import { grantOf, identityOf, valuesOf } from './grant-of-claims';
import { IssuerAccess } from './issuer';

/** Signatures with the issuer's private key only: with an HMAC, its public key could be taken for a shared one. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
const CLOCK_TOLERANCE_SEC = 5;
export const CALLBACK_PATH = '/login/oidc/callback';

/** What a log-in that has begun must prove at its end; the browser keeps it. */
export interface BegunLogin {
  state: string;
  nonce: string;
  verifier: string;
  /** The place on the page to go on at. */
  next: string;
}

export class OidcAccess {
  private readonly issuer: IssuerAccess;

  constructor(readonly settings: OidcSettings) {
    this.issuer = new IssuerAccess(settings);
  }

  /** The same for the same roles: by it a log-in is known that has others. */
  get rules(): string {
    const { issuer, claim, grants } = this.settings;
    return createHash('sha256')
      .update(JSON.stringify([issuer, claim, grants]))
      .digest('hex');
  }

  /** Whether a bearer token may be one of the issuer's: three parts with dots, which our own never have. */
  takes(bearer: string): boolean {
    return this.settings.audience !== null && bearer.split('.').length === 3;
  }

  /** Throws `access_needed`, `access_denied` and `issuer_failed`. */
  async callerWith(bearer: string): Promise<Caller> {
    const { keys } = await this.issuer.get();
    const { issuer, audience } = this.settings;
    let claims: JWTPayload;
    try {
      const verified = await jwtVerify(bearer, keys, {
        issuer,
        audience: audience ?? [],
        algorithms: ALGORITHMS,
        requiredClaims: ['iss', 'aud', 'exp', 'sub'],
        clockTolerance: CLOCK_TOLERANCE_SEC,
      });
      claims = verified.payload;
    } catch (err) {
      throw this.refusal(err);
    }
    const { sub = '', exp = 0 } = claims;
    const expiresAt = new Date(exp * 1_000).toISOString();
    return { ...identityOf({ ...claims, sub }), ...grantOf(claims, this.settings), expiresAt };
  }

  /** The issuer's page to send the browser to. Throws `issuer_failed`. */
  async begin(origin: string, next: string): Promise<{ address: string; begun: BegunLogin }> {
    const { config } = await this.issuer.get();
    const begun = {
      ...{ state: client.randomState(), nonce: client.randomNonce() },
      ...{ verifier: client.randomPKCECodeVerifier(), next },
    };
    const address = client.buildAuthorizationUrl(config, {
      redirect_uri: `${origin}${CALLBACK_PATH}`,
      scope: this.settings.scopes.join(' '),
      state: begun.state,
      nonce: begun.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(begun.verifier),
      code_challenge_method: 'S256',
    });
    return { address: address.href, begun };
  }

  /**
   * Who has logged in, by what the issuer sent the browser back with. Throws `access_needed`, `access_denied` and
   * `issuer_failed`.
   */
  async finish(
    origin: string,
    answer: URLSearchParams,
    begun: BegunLogin,
  ): Promise<Grant & Pick<Caller, 'id' | 'name'>> {
    const { config } = await this.issuer.get();
    const { claim } = this.settings;
    const { state: expectedState, nonce: expectedNonce, verifier: pkceCodeVerifier } = begun;
    try {
      const tokens = await client.authorizationCodeGrant(
        config,
        new URL(`${origin}${CALLBACK_PATH}?${answer.toString()}`),
        { expectedState, expectedNonce, pkceCodeVerifier, idTokenExpected: true },
      );
      const own = tokens.claims();
      if (!own) throw new Error('there is no ID token');
      // Many issuers say only who it is in the ID token, and the rest where it is asked for.
      const isWhole = valuesOf(own, claim).length > 0 || !config.serverMetadata().userinfo_endpoint;
      const more = isWhole ? {} : await client.fetchUserInfo(config, tokens.access_token, own.sub);
      const claims = { ...more, ...own };
      return { ...identityOf(claims), ...grantOf(claims, this.settings) };
    } catch (err) {
      throw this.refusal(err);
    }
  }

  /** A refusal by us or the issuer; or the issuer's own failure, after which the same may succeed later. */
  private refusal(err: unknown): HoldfastError {
    if (err instanceof HoldfastError) return err;
    const reason = reasonOfRefusal(err);
    return reason === undefined ? this.issuer.failure(err) : new HoldfastError('access_needed', { reason });
  }
}

/** Undefined if the issuer has failed. Texts of the issuer are left out: pages of others may have made them. */
function reasonOfRefusal(err: unknown): string | undefined {
  if (err instanceof errors.JWTExpired) return 'the token has expired';
  if (err instanceof errors.JWTClaimValidationFailed)
    return `the claim "${err.claim}" of the token is missing or not what this gateway takes`;
  if (err instanceof errors.JWKSInvalid || err instanceof errors.JWKSTimeout) return undefined;
  // Its key set was no key set.
  if (err instanceof errors.JOSEError)
    return err.code === 'ERR_JOSE_GENERIC' ? undefined : `the token is not valid (${err.code})`;
  if (err instanceof client.AuthorizationResponseError)
    return `the issuer did not log you in (${errorCode(err.error)})`;
  if (err instanceof client.ResponseBodyError)
    return err.error === 'invalid_grant'
      ? 'the issuer refused the code of this log-in: it is used up, expired, or not for this gateway'
      : undefined;
  if (err instanceof client.ClientError && WRONG_ANSWER.includes(err.code ?? ''))
    return `the answer of the issuer is not for this log-in (${err.code})`;
  return undefined;
}

/** A foreign state, nonce, issuer or audience, and times that do not fit. */
const WRONG_ANSWER = [
  'OAUTH_INVALID_RESPONSE',
  'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
  'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
  'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED',
];

const errorCode = (code: string): string => (/^[\w.-]{1,60}$/.test(code) ? code : 'unknown');

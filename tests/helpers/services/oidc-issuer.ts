// A real OpenID Connect issuer in a process of its own, with a key that the test has, too: for forgeries.
import { spawn, type ChildProcess } from 'node:child_process';
import { createPublicKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { OidcSettings } from '../../../contracts/gateway/oidc';

const FIXTURE = join(__dirname, '..', '..', 'fixtures', 'oidc-issuer.mjs');
const SECRET = 'the-secret-of-the-client';
export const AUDIENCE = 'https://holdfast.example.org/api';
const KEY_ID = 'one';

type Claims = Record<string, unknown>;

export const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

export class OidcIssuer {
  private constructor(
    readonly url: string,
    readonly key: KeyObject,
    private readonly child: ChildProcess,
    private readonly environment: NodeJS.ProcessEnv,
  ) {}

  /** @param groups of people and programs, by their name */
  static async start(groups: Record<string, string[]>): Promise<OidcIssuer> {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const jwk = { ...privateKey.export({ format: 'jwk' }), kid: KEY_ID, use: 'sig', alg: 'RS256' };
    const facts = { jwks: { keys: [jwk] }, groups, secret: SECRET, audience: AUDIENCE };
    const environment = { ...process.env, HOLDFAST_ISSUER: JSON.stringify(facts) };
    const { child, url } = await run(environment);
    return new OidcIssuer(url, privateKey, child, environment);
  }

  settings(more: Partial<OidcSettings> = {}): OidcSettings {
    return {
      ...{ issuer: this.url, name: 'Example', clientId: 'holdfast', clientSecret: SECRET },
      ...{ audience: AUDIENCE, scopes: ['openid', 'profile'], claim: 'groups' },
      grants: [
        { value: 'watchers', role: 'viewer', agents: ['*'] },
        { value: 'team-a', role: 'operator', agents: ['a-*'] },
        { value: 'chiefs', role: 'admin', agents: ['*'] },
      ],
      ...{ loginMs: 3_600_000, publicUrl: null },
      ...more,
    };
  }

  /** An access token as the issuer itself gives it to a program. */
  async tokenOf(program: string): Promise<string> {
    const answer = await fetch(`${this.url}/token`, {
      method: 'POST',
      headers: { Authorization: `Basic ${Buffer.from(`${program}:${SECRET}`).toString('base64')}` },
      body: new URLSearchParams({ grant_type: 'client_credentials', resource: AUDIENCE }),
    });
    const { access_token: token } = (await answer.json()) as { access_token?: string };
    if (token === undefined) throw new Error(`the issuer gave no token: ${answer.status}`);
    return token;
  }

  /** A token with the issuer's true signature, and claims that it would not write. */
  signed(claims: Claims, key: KeyObject = this.key): string {
    const content = `${base64url({ alg: 'RS256', typ: 'at+jwt', kid: KEY_ID })}.${base64url(this.claims(claims))}`;
    return `${content}.${sign('sha256', Buffer.from(content), key).toString('base64url')}`;
  }

  /** Those of a good token, but for some. */
  claims(some: Claims = {}): Claims {
    const now = Math.floor(Date.now() / 1_000);
    const good = { iss: this.url, aud: AUDIENCE, sub: 'eve', iat: now, exp: now + 600, groups: ['chiefs'] };
    return { ...good, ...some };
  }

  publicPem(): string {
    return createPublicKey(this.key).export({ format: 'pem', type: 'spki' }).toString();
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await ended;
  }

  /** The same one again, at the same address. */
  async again(): Promise<OidcIssuer> {
    const { port } = new URL(this.url);
    const { child } = await run({ ...this.environment, HOLDFAST_ISSUER_PORT: port });
    return new OidcIssuer(this.url, this.key, child, this.environment);
  }
}

async function run(env: NodeJS.ProcessEnv): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [FIXTURE], { env, stdio: ['pipe', 'pipe', 'pipe'] });
  let said = '';
  child.stderr.on('data', (data: Buffer) => (said += data.toString()));
  for await (const line of createInterface(child.stdout)) return { child, url: line };
  throw new Error(`the issuer has ended: ${said}`);
}

/** A browser without a page: it keeps cookies by host, follows redirects, and fills in the issuer's forms. */
export class FormBrowser {
  private readonly cookies = new Map<string, Map<string, string>>();

  async get(address: string, init: RequestInit = {}): Promise<Response> {
    const { host } = new URL(address);
    const jar = this.cookies.get(host) ?? new Map<string, string>();
    this.cookies.set(host, jar);
    const cookie = this.cookiesOf(address);
    const headers = { ...(init.headers as Record<string, string>), ...(cookie && { Cookie: cookie }) };
    const answer = await fetch(address, { ...init, headers, redirect: 'manual' });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '' || /max-age=0\b|expires=Thu, 01 Jan 1970/i.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    return answer;
  }

  /** What it sends to this site. */
  cookiesOf(address: string): string {
    const jar = this.cookies.get(new URL(address).host) ?? new Map<string, string>();
    return [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  /** Changes what this browser keeps of the log-in that it has begun. */
  changeBegun(address: string, change: (begun: Claims) => Claims): void {
    const jar = this.cookies.get(new URL(address).host);
    const [name, value] = [...(jar ?? [])].find(([one]) => one.startsWith('holdfast_oidc_')) ?? [];
    if (!jar || name === undefined || value === undefined) throw new Error('it has begun none');
    const begun = JSON.parse(Buffer.from(value, 'base64url').toString()) as Claims;
    jar.set(name, base64url(change(begun)));
  }

  /** Logs in at the issuer; returns the address that it sends the browser back to, not visited yet. */
  async logIn(start: string, callback: string, person: string): Promise<string> {
    let answer = await this.get(start);
    let at = start;
    for (let step = 0; step < 20; step++) {
      const to = answer.headers.get('Location');
      if (to !== null) {
        at = new URL(to, at).href;
        if (at.startsWith(callback)) return at;
        answer = await this.get(at);
        continue;
      }
      const form = await answer.text();
      const [, action] = /<form[^>]* action="([^"]+)"/.exec(form) ?? [];
      const [, prompt] = /name="prompt" value="(\w+)"/.exec(form) ?? [];
      if (action === undefined || prompt === undefined)
        throw new Error(`${at} answered ${answer.status}: ${form}`);
      at = new URL(action, at).href;
      const body = new URLSearchParams({ prompt, login: person, password: 'any' });
      answer = await this.get(at, { method: 'POST', body });
    }
    throw new Error(`the log-in does not end: ${at}`);
  }
}

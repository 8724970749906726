// The tokens of the gateway: hashes in one private file of the data folder, which every gateway of the folder reads, so
// that a revoked token is refused at once.
import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { AGENT_PATTERN, ALL_AGENTS } from '../../contracts/text/glob';
import { readList, stampOf, writeJson } from '../../system/json-file';
import { withLock } from '../../system/lock';
import { makeFolder } from '../../system/make-folder';
import { isLimitedAdmin, type Caller, type Grant } from './grants';

/** `login`: for one log-in by a link. `browser`: what that log-in gives to the browser, as a cookie. */
type Kind = 'token' | 'login' | 'browser';

export interface StoredToken extends Grant {
  id: string;
  kind: Kind;
  name: string;
  createdAt: string;
  /** ISO 8601; null: never. */
  expiresAt: string | null;
  /** Of a browser: the token that it logged in with, or the person at the issuer (`oidc:SUBJECT`). */
  from?: string;
  /** The configuration that gave the role to a person at the issuer. */
  rules?: string;
  /** SHA-256 in hexadecimal: the token has 256 random bits, so nothing slower is needed. */
  hash: string;
}

export type ListedToken = Omit<StoredToken, 'from' | 'rules' | 'hash' | 'kind'>;

const LOGS_IN: readonly Kind[] = ['token', 'login'];
const PREFIX = 'hf_';
const LOGIN_MS = 10 * 60_000;
const BROWSER_MS = 12 * 3_600_000;
/** Those of programs, and links for a log-in. */
const MAX_TOKENS = 1_000;
/** Log-ins with one token or of one person; the oldest end first. */
const MAX_BROWSERS = 20;
/** All log-ins together; the oldest end first, so that no one is locked out. */
const MAX_LOGINS = 5_000;

export interface NewToken extends Grant {
  name: string;
  /** How long it is valid, in milliseconds; null: until it is revoked. */
  validMs: number | null;
}

export class TokenStore {
  private readonly file: string;
  private read: { tokens: StoredToken[]; stamp: string } = { tokens: [], stamp: '' };

  /** @param rules what roles people of the issuer have now: what they logged in with under others no longer holds */
  constructor(
    private readonly dataDir: string,
    private readonly rules?: string,
  ) {
    this.file = join(dataDir, 'gateway', 'tokens.json');
  }

  /** Returns the token, which is shown once and stored nowhere. Throws `invalid_input`. */
  async create(request: NewToken): Promise<{ token: string; stored: ListedToken }> {
    for (const pattern of request.agents)
      if (!AGENT_PATTERN.test(pattern))
        throw new HoldfastError('invalid_input', {
          what: 'The pattern of agents',
          got: JSON.stringify(pattern),
          allowed: 'an id, in which * stands for any characters',
        });
    if (isLimitedAdmin(request))
      throw new HoldfastError('invalid_input', {
        what: 'An admin of some agents',
        got: request.agents.join(', '),
        allowed: `${ALL_AGENTS}, for an admin can make tokens for all agents`,
        next: 'Make it an operator of these agents, or an admin without a limit.',
      });
    const made = newToken('token', request);
    await this.change((tokens) => ({ tokens: withToken(tokens, made.stored), result: undefined }));
    return { token: made.token, stored: listed(made.stored) };
  }

  /** A token for one log-in within ten minutes. */
  async createLogin(grant: Grant & { name: string }): Promise<string> {
    const { token, stored } = newToken('login', { ...grant, validMs: LOGIN_MS });
    await this.change((tokens) => ({ tokens: withToken(tokens, stored), result: undefined }));
    return token;
  }

  /** Whether `logIn` would let somebody in with it now. Changes nothing. */
  canLogIn(given: string): boolean {
    return this.callerWith(given, LOGS_IN) !== undefined;
  }

  /**
   * Exchanges a token for that of a browser; one for a log-in is used up. Throws `access_needed`.
   */
  async logIn(given: string): Promise<{ token: string; caller: Caller; validMs: number }> {
    const hash = hashOf(given);
    // Looked up and exchanged at once: between the two it could be revoked.
    const exchange = (): Promise<{ token: string; stored: StoredToken; validMs: number } | undefined> =>
      this.change((tokens) => {
        const found = tokens.find((each) => each.hash === hash && LOGS_IN.includes(each.kind));
        if (!found) return { tokens, result: undefined };
        const validMs = browserMs(found);
        const made = newToken('browser', { ...found, validMs, from: found.id });
        const rest = found.kind === 'login' ? tokens.filter((each) => each !== found) : tokens;
        return { tokens: withLogin(rest, made.stored), result: { ...made, validMs } };
      });
    // A stranger's costs no lock and no writing.
    const made = this.canLogIn(given) ? await exchange() : undefined;
    if (!made)
      throw new HoldfastError('access_needed', { reason: 'this token is unknown, used up, or expired' });
    return { token: made.token, caller: callerOf(made.stored), validMs: made.validMs };
  }

  /** A browser's token for a person whom the issuer has named; `revoke` ends it by the person's id. */
  async logInAs(
    { id: from, name, role, agents }: Grant & Pick<Caller, 'id' | 'name'>,
    validMs: number,
  ): Promise<{ token: string; validMs: number }> {
    const { rules } = this;
    const { token, stored } = newToken('browser', { name, role, agents, validMs, from, rules });
    await this.change((tokens) => ({ tokens: withLogin(tokens, stored), result: undefined }));
    return { token, validMs };
  }

  /** Who has this token; undefined for one that is unknown, revoked or expired. */
  callerWith(given: string, kinds: readonly Kind[]): Caller | undefined {
    const hash = hashOf(given);
    const found = this.all().find((each) => each.hash === hash && kinds.includes(each.kind) && isValid(each));
    if (found && isPerson(found) && found.rules !== this.rules) return undefined;
    return found && callerOf(found);
  }

  list(): ListedToken[] {
    return this.all()
      .filter((each) => each.kind === 'token')
      .map(listed);
  }

  /** Revokes tokens by id or name, and the log-ins that were made with them. Throws `not_found`. */
  async revoke(named: string): Promise<ListedToken[]> {
    const gone = await this.change((tokens) => {
      const isMeant = ({ id, name, from }: StoredToken): boolean => [id, name, from].includes(named);
      return { tokens: tokens.filter((each) => !isMeant(each)), result: tokens.filter(isMeant) };
    });
    if (gone.length > 0) return gone.map(listed);
    const allowed = this.list()
      .map(({ id, name }) => `${name} (${id})`)
      .join(', ');
    throw new HoldfastError('not_found', {
      what: 'The token',
      got: named,
      allowed: allowed || 'none: there are no tokens',
      next: 'List them with `holdfast token list`.',
    });
  }

  /** Ends a browser's log-in, and returns whose it was; of one that is unknown nothing changes. */
  async logOut(given: string): Promise<Caller | undefined> {
    const caller = this.callerWith(given, ['browser']);
    if (!caller) return undefined;
    const hash = hashOf(given);
    await this.change((tokens) => ({
      tokens: tokens.filter((each) => each.hash !== hash),
      result: undefined,
    }));
    return caller;
  }

  private async change<T>(work: (tokens: StoredToken[]) => { tokens: StoredToken[]; result: T }): Promise<T> {
    makeFolder(join(this.dataDir, 'gateway'));
    return withLock(`${this.file}.lock`, async () => {
      const { tokens, result } = work(readTokens(this.file).filter(isValid));
      writeJson(this.file, tokens);
      return result;
    });
  }

  /** Read again when the file has changed. */
  private all(): StoredToken[] {
    const stamp = stampOf(this.file);
    if (stamp !== this.read.stamp) this.read = { tokens: readTokens(this.file), stamp };
    return this.read.tokens;
  }
}

/** The token itself is stored nowhere. */
function newToken(
  kind: Kind,
  { name, role, agents, validMs, from, rules }: NewToken & Pick<StoredToken, 'from' | 'rules'>,
): { token: string; stored: StoredToken } {
  const token = PREFIX + randomBytes(32).toString('base64url');
  const expiresAt = validMs === null ? null : new Date(Date.now() + validMs).toISOString();
  const createdAt = new Date().toISOString();
  const id = randomBytes(6).toString('hex');
  const source = { ...(from !== undefined && { from }), ...(rules !== undefined && { rules }) };
  const grant = { role, agents: [...agents] };
  return {
    token,
    stored: { id, kind, name, ...grant, ...source, createdAt, expiresAt, hash: hashOf(token) },
  };
}

/** Throws `resources_exhausted`. */
function withToken(tokens: readonly StoredToken[], made: StoredToken): StoredToken[] {
  if (tokens.filter(({ kind }) => kind !== 'browser').length >= MAX_TOKENS)
    throw new HoldfastError('resources_exhausted', {
      resource: 'tokens',
      reason: `there are ${MAX_TOKENS}, links for a log-in included`,
    });
  return [...tokens, made];
}

function withLogin(tokens: readonly StoredToken[], made: StoredToken): StoredToken[] {
  const all = tokens.filter(({ kind }) => kind === 'browser');
  const own = all.filter(({ from }) => from === made.from);
  const dropped = new Set([
    ...own.slice(0, Math.max(0, own.length - MAX_BROWSERS + 1)),
    ...all.slice(0, Math.max(0, all.length - MAX_LOGINS + 1)),
  ]);
  return [...tokens.filter((one) => !dropped.has(one)), made];
}

/** A log-in ends with the token that it came from. */
function browserMs({ kind, expiresAt }: StoredToken): number {
  const left = kind === 'token' && expiresAt !== null ? Date.parse(expiresAt) - Date.now() : BROWSER_MS;
  return Math.min(BROWSER_MS, left);
}

const readTokens = (file: string): StoredToken[] =>
  readList(
    file,
    isStored,
    // Requests without a token get this, too: the folder is not named.
    'gateway/tokens.json in the data folder is no list of tokens: it is damaged, or not written by Holdfast. Restore it, ' +
      'or move it away: then no token is valid any more',
  );

function isStored(one: unknown): one is StoredToken {
  const { id, name, role, agents, hash, expiresAt } = (one ?? {}) as Partial<Record<string, unknown>>;
  const texts = [id, name, role, hash];
  const isExpiry = expiresAt === null || typeof expiresAt === 'string';
  return texts.every((text) => typeof text === 'string') && Array.isArray(agents) && isExpiry;
}

const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex');

const isValid = ({ expiresAt }: StoredToken): boolean =>
  expiresAt === null || Date.parse(expiresAt) > Date.now();

const listed = ({ id, name, role, agents, createdAt, expiresAt }: StoredToken): ListedToken => ({
  ...{ id, name, role, agents },
  ...{ createdAt, expiresAt },
});

const isPerson = ({ from }: StoredToken): boolean => from?.startsWith('oidc:') ?? false;

/** For a person at the issuer, the person. */
function callerOf(stored: StoredToken): Caller {
  const { id, name, role, agents, expiresAt, from = id } = stored;
  return { id: isPerson(stored) ? from : id, name, role, agents, expiresAt };
}

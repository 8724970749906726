// Who may ask the gateway for what: tokens, roles, patterns of agents; and what a page of another site can make of it.
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { dirname, join } from 'node:path';
import WebSocket from 'ws';
import { TokenStore } from '../../../../gateway/access/token-store';
import type { Gateway } from '../../../../gateway/gateway';
import type { Route } from '../../../../gateway/http/route';
import { ALL_ROUTES } from '../../../../gateway/routes/all-routes';
import { ApiClient, gatewayOn, type Json } from '../../../helpers/gateway/gateway';
import { GatewayOfItsOwn } from '../../../helpers/gateway/gateway-of-its-own';
import { uniqueId } from '../../../helpers/engines/temporal';

const own = new GatewayOfItsOwn();
const { engine, files } = own;
beforeAll(() => own.start({ role: 'admin', gateway: { names: ['agents.example.org'] } }), 60_000);
afterAll(() => own.end(), 60_000);

const routes = ALL_ROUTES as unknown as Route[];
const guarded = routes.filter(({ role }) => role !== 'none');
const pathOf = ({ path }: Route): string =>
  path
    .replace('{agent}', 'a')
    .replace('{host}', 'local')
    .replace('{session}', '0')
    .replaceAll(/\{\w+\}/g, 'x');
const named = (some: Route[]): [string, Route][] => some.map((one) => [`${one.method} ${one.path}`, one]);

test.each(named(guarded))('%s answers nothing without a good token', async (_name, route) => {
  const { method, example } = route;
  for (const token of [null, 'hf_wrong', '']) {
    const { status, body, headers } = await new ApiClient(own.gateway.url, token).ask(
      method,
      pathOf(route),
      example,
    );
    expect({ status, code: (body as Json).code }).toEqual({ status: 401, code: 'access_needed' });
    expect(headers.get('WWW-Authenticate')).toMatch(/^Bearer/);
  }
});

test.each(named(guarded.filter(({ role }) => role !== 'viewer')))(
  '%s refuses a viewer, and changes nothing',
  async (_name, route) => {
    const viewer = await ApiClient.of(own.gateway, 'viewer');
    const before = own.gateway.tokens.list().length;
    const { status, body } = await viewer.ask(route.method, pathOf(route), route.example);
    expect({ status, code: (body as Json).code }).toEqual({ status: 403, code: 'access_denied' });
    expect(own.gateway.tokens.list()).toHaveLength(before);
  },
);

test('a token for some agents reaches those, and neither sees nor changes the others', async () => {
  const [mine, other] = [uniqueId('mine'), uniqueId('other')];
  for (const id of [mine, other])
    await own.api.post('/v1/agents', { id, mode: 'conversation', ...files.settings([{ text: 'x' }]) });
  await own.api.post(`/v1/sessions/${other}/local/0/exec`, { code: 'echo secret' });
  const limited = await ApiClient.of(own.gateway, 'operator', ['mine-*']);
  expect(await limited.ask('GET', `/v1/agents/${mine}`)).toMatchObject({ status: 200 });
  for (const [method, path, body] of [
    ['GET', `/v1/agents/${other}`],
    ['GET', `/v1/agents/${other}/events`],
    ['POST', `/v1/agents/${other}/stop`, {}],
    ['POST', '/v1/agents', { id: 'other-new', mode: 'conversation', model: 'scripted:x' }],
    ['POST', `/v1/agents/${mine}/fork`, { id: 'other-fork' }],
    ['GET', `/v1/sessions/${other}/local/0/log`],
    ['GET', `/v1/sessions?agent=${other}`],
    ['GET', `/v1/approvals?agent=${other}`],
    ['POST', `/v1/approvals/${Buffer.from(`exec/${other}/local/0\nx`).toString('base64url')}/deny`, {}],
  ] as const)
    expect(await limited.ask(method, path, body)).toMatchObject({
      status: 403,
      body: { code: 'access_denied' },
    });
  const { items } = await limited.get<{ items: { id: string }[] }>('/v1/agents?limit=1000');
  expect(items.map(({ id }) => id)).toContain(mine);
  expect(items.map(({ id }) => id)).not.toContain(other);
  expect(JSON.stringify(await limited.get('/v1/sessions'))).not.toContain(other);
});

const FOREIGN = { agent: 'other', runId: 'x', count: 1 };
test.each([
  ['the beginning of its conversation', '/v1/agents', { model: 'scripted:x', from: FOREIGN }],
  ['its checkpoints', '/v1/agents', { model: 'scripted:x', workspace: { of: null, for: 'other' } }],
  ['its checkpoints in a fork', '/v1/agents/a/fork', { workspace: { of: null, for: 'other' } }],
  [
    'a folder that counts as made',
    '/v1/agents',
    { model: 'scripted:x', workspace: { of: null, base: '0'.repeat(40) } },
  ],
])('no start takes the name of another agent for %s', async (_what, path, body) => {
  const operator = await ApiClient.of(own.gateway, 'operator', ['a']);
  const started = await operator.ask('POST', path, { ...body, id: 'a', mode: 'conversation' });
  expect(started).toMatchObject({ status: 400, body: { code: 'invalid_input', effect: 'none' } });
});

test.each(['/v1/agents', '/v1/agents/ctx-a/fork'])(
  'a token for some agents names context only below the agent’s folder: %s',
  async (path) => {
    const operator = await ApiClient.of(own.gateway, 'operator', ['ctx-*']);
    const ask = (context: string[]): ReturnType<ApiClient['ask']> =>
      operator.ask('POST', path, { id: uniqueId('ctx'), model: 'scripted:x', mode: 'conversation', context });
    for (const outside of ['/etc/shadow', '../../x', 'a/../../x'])
      expect(await ask(['AGENTS.md', outside])).toMatchObject({
        status: 403,
        body: { code: 'access_denied', effect: 'none' },
      });
    expect((await ask(['AGENTS.md', 'skills', '..a'])).status).not.toBe(403);
  },
);

test('no token is made for an admin of some agents', async () => {
  const made = await own.api.ask('POST', '/v1/tokens', { name: 'x', role: 'admin', agents: ['team-a-*'] });
  expect(made).toMatchObject({ status: 400, body: { code: 'invalid_input' } });
});

test('a revoked token is refused at once, and an expired one', async () => {
  const brief = await own.gateway.tokens.create({ name: 'brief', role: 'viewer', agents: ['*'], validMs: 0 });
  expect(await new ApiClient(own.gateway.url, brief.token).ask('GET', '/v1/me')).toMatchObject({
    status: 401,
  });
  const { token, id } = await own.api.post<{ token: string; id: string }>('/v1/tokens', {
    name: 'ci',
    role: 'viewer',
  });
  const ci = new ApiClient(own.gateway.url, token);
  expect(await ci.get('/v1/me')).toMatchObject({ name: 'ci', role: 'viewer', agents: ['*'] });
  expect(await own.api.ask('DELETE', `/v1/tokens/${id}`)).toMatchObject({ status: 204 });
  expect(await ci.ask('GET', '/v1/me')).toMatchObject({ status: 401 });
  expect(await own.api.ask('DELETE', `/v1/tokens/${id}`)).toMatchObject({ status: 404 });
});

test('tokens are stored as hashes, in a file for this user only', () => {
  const file = join(engine.dataDir, 'gateway', 'tokens.json');
  expect(readFileSync(file, 'utf8')).not.toContain(own.api.token);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test.each(['{broken', '[{"x":1}]', '{"a":1}', ''])(
  'a damaged file of tokens (%s) is named, and nothing overwrites it',
  async (damaged) => {
    const folder = join(files.directory, uniqueId('damaged'));
    const file = join(folder, 'gateway', 'tokens.json');
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, damaged);
    const store = new TokenStore(folder);
    const error = {
      code: 'config_invalid',
      message: expect.stringContaining('gateway/tokens.json') as string,
    };
    const created = store.create({ name: 'a', role: 'viewer', agents: ['*'], validMs: null });
    await expect(created).rejects.toMatchObject(error);
    expect(() => store.list()).toThrow(expect.objectContaining(error) as Error);
    expect(() => store.callerWith('hf_x', ['token'])).toThrow(expect.objectContaining(error) as Error);
    expect(readFileSync(file, 'utf8')).toBe(damaged);
  },
);

const login = (token: string): Promise<Response> =>
  fetch(`${own.gateway.url}/v1/login`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ token }),
  });
const cookieOf = (answer: Response): string => (answer.headers.get('Set-Cookie') ?? '').split(';')[0] ?? '';

test('a link logs in once; the cookie is for this gateway alone, and ends with the log-out', async () => {
  const token = await own.gateway.tokens.createLogin({ name: 'me', role: 'operator', agents: ['*'] });
  // It is for logging in, and for nothing else.
  expect(await new ApiClient(own.gateway.url, token).ask('GET', '/v1/me')).toMatchObject({ status: 401 });
  const answer = await login(token);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('Set-Cookie')).toMatch(/; HttpOnly; SameSite=Strict; /);
  const Cookie = cookieOf(answer);
  const me = (): Promise<Response> => fetch(`${own.gateway.url}/v1/me`, { headers: { Cookie } });
  expect(await (await me()).json()).toMatchObject({ name: 'me', role: 'operator' });
  expect((await login(token)).status).toBe(401);
  const asBearer = new ApiClient(own.gateway.url, Cookie.split('=')[1] ?? '');
  expect(await asBearer.ask('GET', '/v1/me')).toMatchObject({ status: 401 });
  await fetch(`${own.gateway.url}/v1/logout`, { method: 'POST', headers: { Cookie } });
  expect((await me()).status).toBe(401);
});

test('a log-out is in the audit log with its person, and one without a log-in changes nothing', async () => {
  const name = uniqueId('leaver');
  const link = await own.gateway.tokens.createLogin({ name, role: 'viewer', agents: ['*'] });
  const known = cookieOf(await login(link));
  const unknown = known.replace(/=.*/, '=hf_wrong');
  const folder = join(engine.dataDir, 'gateway');
  const facts = (): unknown[] => [
    statSync(join(folder, 'tokens.json')).ino,
    readFileSync(join(folder, 'audit.jsonl'), 'utf8').split('\n').length,
  ];
  const logOut = (Cookie: string): Promise<Response> =>
    fetch(`${own.gateway.url}/v1/logout`, { method: 'POST', headers: { Cookie } });
  const before = facts();
  expect((await logOut(unknown)).status).toBe(204);
  expect(facts()).toEqual(before);
  expect((await logOut(known)).status).toBe(204);
  const last = readFileSync(join(folder, 'audit.jsonl'), 'utf8').trim().split('\n').at(-1) ?? '';
  expect(JSON.parse(last)).toMatchObject({ name, what: 'POST /v1/logout', status: 204 });
});

test('a log-in made with a token ends with the token', async () => {
  const { token, stored } = await own.gateway.tokens.create({
    name: 'p',
    role: 'viewer',
    agents: ['*'],
    validMs: null,
  });
  const Cookie = cookieOf(await login(token));
  const status = async (): Promise<number> =>
    (await fetch(`${own.gateway.url}/v1/me`, { headers: { Cookie } })).status;
  expect(await status()).toBe(200);
  await own.gateway.tokens.revoke(stored.id);
  expect(await status()).toBe(401);
});

test('a token has at most twenty log-ins: the oldest ends, and others keep theirs', async () => {
  const create = (): ReturnType<Gateway['tokens']['create']> =>
    own.gateway.tokens.create({ name: uniqueId('p'), role: 'viewer', agents: ['*'], validMs: null });
  const [mine, other] = [(await create()).token, (await create()).token];
  const kept = await own.gateway.tokens.logIn(other);
  const all = [];
  for (let n = 0; n < 21; n++) all.push((await own.gateway.tokens.logIn(mine)).token);
  const isIn = (token: string): boolean => own.gateway.tokens.callerWith(token, ['browser']) !== undefined;
  expect(all.map(isIn)).toEqual([false, ...Array.from({ length: 20 }, () => true)]);
  expect(isIn(kept.token)).toBe(true);
});

test('who guesses tokens is soon told to wait, and a good one from the same address is not', async () => {
  const other = await gatewayOn(engine);
  try {
    const guess = (token: string): Promise<Response> =>
      fetch(`${other.url}/v1/login`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ token }),
      });
    for (let n = 0; n < 10; n++) expect((await guess(`hf_${n}`)).status).toBe(401);
    const refused = await guess('hf_10');
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0);
    // Behind a proxy it is everybody's address.
    const link = await other.tokens.createLogin({ name: 'x', role: 'viewer', agents: ['*'] });
    expect((await guess(link)).status).toBe(200);
    expect((await guess(link)).status).toBe(429);
    expect(await new ApiClient(other.url, own.api.token).ask('GET', '/v1/me')).toMatchObject({ status: 200 });
  } finally {
    await other.close();
  }
});

test('the document of the routes is made once, however often strangers ask for it', async () => {
  const document = (): Promise<string> =>
    fetch(`${own.gateway.url}/openapi.json`).then((answer) => answer.text());
  const first = await document();
  const last = routes.pop();
  expect(last).toBeDefined();
  try {
    expect(await document()).toBe(first);
  } finally {
    if (last) routes.push(last);
  }
});

/** Sends the beginning of a body, and no more. */
function begun(path: string, body: string, token?: string): Promise<number> {
  const { hostname, port } = new URL(own.gateway.url);
  const headers = { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) };
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, method: 'POST', headers }, (answer) => {
      answer.resume();
      sent.off('error', reject).on('error', () => undefined);
      resolve(answer.statusCode ?? 0);
      sent.destroy();
    });
    sent.on('error', reject).write(body);
  });
}

test('somebody without a right is refused before the body has come, and may log in with a small one only', async () => {
  const viewer = await ApiClient.of(own.gateway, 'viewer');
  expect(await begun('/v1/agents', '{"task": "')).toBe(401);
  expect(await begun('/v1/agents', '{"task": "', viewer.token ?? '')).toBe(403);
  expect(await begun('/v1/login', `{"token": "${'x'.repeat(20_000)}`)).toBe(413);
}, 20_000);

/** As a browser sends it: fetch chooses some headers itself. */
function raw(headers: Record<string, string>, { method = 'GET', path = '/v1/me' } = {}): Promise<number> {
  const { hostname, port } = new URL(own.gateway.url);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, method, headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    sent.on('error', reject).end();
  });
}

test.each([
  ['under a name that was rebound to this machine', { Host: 'evil.example:7280' }],
  ['from a page of another origin', { Origin: 'http://evil.example' }],
  ['from a page of another port of this machine', { Origin: 'http://127.0.0.1:1' }],
  ['from a page without an origin', { Origin: 'null' }],
  ['from a page of another site', { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors' }],
  [
    'from a form of another site',
    { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'iframe' },
  ],
])('a request %s is refused, whatever token it has', async (_what, headers) => {
  const good = { Host: new URL(own.gateway.url).host, Authorization: `Bearer ${own.api.token}` };
  expect(await raw(good)).toBe(200);
  expect(await raw({ ...good, ...headers })).toBe(403);
});

test('a terminal is refused to a page of another site', async () => {
  const socket = new WebSocket(`${own.gateway.url.replace('http', 'ws')}/v1/sessions/a/local/0/terminal`, {
    headers: { Authorization: `Bearer ${own.api.token}`, Origin: 'http://evil.example' },
  });
  const error = await new Promise<Error>((resolve) => socket.once('error', resolve));
  expect(error.message).toContain('403');
});

test('a name that was given is served', async () => {
  expect(await raw({ Host: 'agents.example.org', Authorization: `Bearer ${own.api.token}` })).toBe(200);
});

test('no answer may be framed, sniffed, stored, or read by another page', async () => {
  const { headers } = await own.api.ask('GET', '/v1/me');
  expect(headers.get('Content-Security-Policy')).toMatch(
    /default-src 'none'.*script-src 'self';.*frame-ancestors 'none'/,
  );
  expect(headers.get('Content-Security-Policy')).not.toContain("script-src 'self' 'unsafe");
  expect(headers.get('X-Content-Type-Options')).toBe('nosniff');
  expect(headers.get('Cache-Control')).toBe('no-store');
  expect(headers.get('Access-Control-Allow-Origin')).toBeNull();
});

test('every change is in the audit log, with who and without what was sent', async () => {
  const agent = uniqueId('audited');
  await own.api.post(`/v1/sessions/${agent}/local/0/exec`, { code: 'echo "not in the audit log"' });
  // The other one has counted refusals of this address.
  const fresh = await gatewayOn(engine);
  await new ApiClient(fresh.url, null).ask('POST', `/v1/agents/${agent}/stop`, {});
  await fresh.close();
  const log = readFileSync(join(engine.dataDir, 'gateway', 'audit.jsonl'), 'utf8');
  const lines = log
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Json)
    .filter(({ path }) => String(path).includes(agent));
  expect(lines).toMatchObject([
    {
      name: 'admin',
      what: 'POST /v1/sessions/{agent}/{host}/{session}/exec',
      status: 200,
      from: '127.0.0.1',
    },
    { name: null, what: 'POST /v1/agents/{agent}/stop', status: 401, code: 'access_needed' },
  ]);
  expect(log).not.toContain('not in the audit log');
  expect(log).not.toContain(own.api.token);
});

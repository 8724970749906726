// Teams log in by their organization's OpenID Connect issuer, a real one: programs with its access tokens, browsers by
// the authorization code flow. And what can be tried with tokens, codes and answers that are not for us.
import { createHmac, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Gateway } from '../../../../gateway/gateway';
import { ConsolePage } from '../../../helpers/gateway/console';
import { testWith } from '../../../helpers/run/programs';
import { EngineOfItsOwn } from '../../../helpers/engines/engine-of-its-own';
import { ApiClient, gatewayOn, readEvents, type Json } from '../../../helpers/gateway/gateway';
import { base64url, FormBrowser, OidcIssuer } from '../../../helpers/services/oidc-issuer';
import { until } from '../../../helpers/until';

const GROUPS = { ada: ['team-a', 'watchers'], wim: ['watchers'], eve: ['guests'], robot: ['team-a'] };
const LOGIN_MS = 7_200_000;
const engine = new EngineOfItsOwn();
let gateway: Gateway;
let issuer: OidcIssuer;
let callback: string;
beforeAll(async () => {
  await engine.start();
  issuer = await OidcIssuer.start(GROUPS);
  gateway = await gatewayOn(engine, { oidc: issuer.settings({ loginMs: LOGIN_MS }) });
  callback = `${gateway.url}/login/oidc/callback`;
}, 60_000);
afterAll(async () => {
  await gateway.close();
  await issuer.stop();
  expect(await engine.end()).toEqual([]);
}, 60_000);

const programWith = (token: string): ApiClient => new ApiClient(gateway.url, token);

describe('a program with an access token', () => {
  test('of the issuer is let in, with the role and the agents of its claim, until the token expires', async () => {
    const robot = programWith(await issuer.tokenOf('robot'));
    expect(await robot.get('/v1/me')).toMatchObject({
      ...{ name: 'robot', role: 'operator', agents: ['a-*'] },
      expiresAt: expect.stringMatching(/Z$/) as string,
    });
    expect(await robot.ask('POST', '/v1/agents/b-1/stop', {})).toMatchObject({ status: 403 });
    expect(await robot.ask('GET', '/v1/tokens')).toMatchObject({ status: 403 });
  });

  test('with a viewer’s claim changes nothing', async () => {
    const viewer = programWith(issuer.signed({ groups: ['watchers'] }));
    expect(await viewer.get('/v1/me')).toMatchObject({ role: 'viewer' });
    for (const [path, body] of [
      ['/v1/agents', { id: 'a-1', mode: 'conversation', model: 'scripted:x' }],
      ['/v1/sessions/a-1/local/0/exec', { code: 'true' }],
      ['/v1/tokens', { name: 'more', role: 'admin' }],
    ] as const)
      expect(await viewer.ask('POST', path, body)).toMatchObject({
        status: 403,
        body: { code: 'access_denied' },
      });
    expect(gateway.tokens.list()).toEqual([]);
  });

  test('whose claim names no role is refused, and told which claim was looked at', async () => {
    expect(await programWith(issuer.signed({ groups: ['guests'] })).ask('GET', '/v1/me')).toMatchObject({
      status: 403,
      body: {
        code: 'access_denied',
        detail: expect.stringContaining('the claim "groups" with "guests"') as string,
      },
    });
    expect(await programWith(issuer.signed({ groups: undefined })).ask('GET', '/v1/me')).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining('no claim "groups"') as string },
    });
  });

  const anHourAgo = (): number => Math.floor(Date.now() / 1_000) - 3_600;
  const unsigned = (): string => `${base64url({ alg: 'none' })}.${base64url(issuer.claims())}.`;
  const withPublicKey = (): string => {
    const content = `${base64url({ alg: 'HS256', kid: 'one' })}.${base64url(issuer.claims())}`;
    const mac = createHmac('sha256', issuer.publicPem()).update(content).digest('base64url');
    return `${content}.${mac}`;
  };
  const otherKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const changed = (): string => {
    const [head = '', , signature = ''] = issuer.signed({ groups: ['watchers'] }).split('.');
    return `${head}.${base64url(issuer.claims())}.${signature}`;
  };
  test.each<[string, () => string]>([
    ['for another audience', () => issuer.signed({ aud: 'https://else.example.org' })],
    ['that is for the log-in of browsers (an ID token)', () => issuer.signed({ aud: 'holdfast' })],
    ['without an audience', () => issuer.signed({ aud: undefined })],
    ['of another issuer', () => issuer.signed({ iss: 'https://login.evil.example' })],
    ['that has expired', () => issuer.signed({ exp: anHourAgo() })],
    ['that never expires', () => issuer.signed({ exp: undefined })],
    ['that is not valid yet', () => issuer.signed({ nbf: anHourAgo() + 7_200 })],
    ['of nobody', () => issuer.signed({ sub: undefined })],
    ['signed with another key', () => issuer.signed({}, otherKey)],
    ['with changed claims', changed],
    ['with the algorithm none', unsigned],
    ['authenticated with the public key (HS256)', withPublicKey],
  ])('%s is refused', async (_what, token) => {
    expect(await programWith(issuer.signed({})).ask('GET', '/v1/me')).toMatchObject({ status: 200 });
    const { status, body } = await programWith(token()).ask('GET', '/v1/me');
    expect({ status, code: (body as Json).code }).toEqual({ status: 401, code: 'access_needed' });
  });

  test('loses its open stream when the token expires', async () => {
    // Long enough for the stream to be opened with it, on a busy machine, too.
    const exp = Math.floor(Date.now() / 1_000) + 8;
    const token = issuer.signed({ exp });
    const { ended } = await readEvents(`${gateway.url}/v1/events`, { token, enough: () => false });
    expect(ended).toBe(true);
    expect(Date.now()).toBeGreaterThanOrEqual(exp * 1_000);
  });
});

describe('a browser', () => {
  const begin = (next = ''): string => `${gateway.url}/login/oidc${next && `?next=${next}`}`;
  const logIn = (browser: FormBrowser, person: string, next?: string): Promise<string> =>
    browser.logIn(begin(next), callback, person);
  const me = async (browser: FormBrowser): Promise<Json> =>
    (await (await browser.get(`${gateway.url}/v1/me`)).json()) as Json;

  test.each([
    ['none', ''],
    ['a slash', '/'],
    ['one that ends with a slash', 'hosts/'],
    ['another page', '%2F%2Fevil.example'],
    ['too long', `terminals?open=${'a'.repeat(500)}`],
  ])('is logged in, whatever the place to go on at is: %s', async (_, next) => {
    const browser = new FormBrowser();
    const answer = await browser.get(await logIn(browser, 'ada', next));
    expect([answer.status, answer.headers.get('Location')]).toEqual([302, '/']);
  });

  test('is logged in with the person’s name and role, on the page where it was', async () => {
    const browser = new FormBrowser();
    const answer = await browser.get(await logIn(browser, 'ada', 'agents/a-1'));
    expect({ status: answer.status, to: answer.headers.get('Location') }).toEqual({
      status: 302,
      to: '/#/agents/a-1',
    });
    const cookies = answer.headers.getSetCookie();
    expect(cookies).toContainEqual(
      expect.stringMatching(/^holdfast_\d+=hf_.*; HttpOnly; SameSite=Strict; Max-Age=7[12]/),
    );
    expect(await me(browser)).toMatchObject({ name: 'ada@example.org', role: 'operator', agents: ['a-*'] });
    await browser.get(`${gateway.url}/v1/agents/a-1/stop`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{}',
    });
    const lines = readFileSync(join(engine.dataDir, 'gateway', 'audit.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Json);
    const ada = { who: 'oidc:ada', name: 'ada@example.org' };
    expect(lines).toContainEqual(expect.objectContaining({ ...ada, what: 'GET /login/oidc/callback' }));
    expect(lines).toContainEqual(expect.objectContaining({ ...ada, what: 'POST /v1/agents/{agent}/stop' }));
  });

  test('is logged out at once when the person is revoked', async () => {
    const browser = new FormBrowser();
    await browser.get(await logIn(browser, 'wim'));
    expect(await me(browser)).toMatchObject({ role: 'viewer' });
    await gateway.tokens.revoke('oidc:wim');
    expect(await me(browser)).toMatchObject({ code: 'access_needed' });
  });

  test('is logged in for as long as configured', async () => {
    const browser = new FormBrowser();
    const answer = await logIn(browser, 'ada');
    const before = Date.now();
    await browser.get(answer);
    const from = Date.parse(String((await me(browser)).expiresAt)) - LOGIN_MS;
    expect(from).toBeGreaterThanOrEqual(before);
    expect(from).toBeLessThanOrEqual(Date.now());
  });

  test('of a person without a role is refused, and told which claim was looked at', async () => {
    const browser = new FormBrowser();
    const answer = await browser.get(await logIn(browser, 'eve'), { headers: { Accept: 'text/html' } });
    expect(answer.status).toBe(403);
    expect(await answer.text()).toContain('the claim &quot;groups&quot; with &quot;guests&quot;');
    expect(await me(browser)).toMatchObject({ code: 'access_needed' });
  });

  test('is not logged in by an answer to somebody else', async () => {
    const [attacker, victim] = [new FormBrowser(), new FormBrowser()];
    const answer = await logIn(attacker, 'ada');
    // A victim that has begun nothing, and one that has begun a log-in of its own.
    for (const before of [() => Promise.resolve(), () => victim.get(begin())]) {
      await before();
      expect((await victim.get(answer)).status).toBe(401);
      expect(await me(victim)).toMatchObject({ code: 'access_needed' });
    }
  });

  test('is not logged in by an answer with the state of another log-in', async () => {
    const browser = new FormBrowser();
    const answer = await logIn(browser, 'ada');
    const changed = new URL(answer);
    changed.searchParams.set('state', 'a'.repeat(43));
    expect((await browser.get(changed.href)).status).toBe(401);
    expect(await me(browser)).toMatchObject({ code: 'access_needed' });
    expect((await browser.get(answer)).status).toBe(302);
  });

  test('logs in in each of two tabs, whichever is finished first', async () => {
    const browser = new FormBrowser();
    const [first, second] = [await logIn(browser, 'ada', 'hosts'), await logIn(browser, 'ada', 'agents')];
    for (const [answer, page] of [
      [first, '/#/hosts'],
      [second, '/#/agents'],
    ] as const)
      expect((await browser.get(answer)).headers.get('Location')).toBe(page);
    expect(browser.cookiesOf(gateway.url)).not.toContain('holdfast_oidc');
  });

  test('that has the gateway under another name goes to the public address first, once', async () => {
    const publicUrl = 'https://holdfast.example.org';
    const other = await gatewayOn(engine, { oidc: issuer.settings({ publicUrl }) });
    try {
      const to = async (path: string): Promise<string> =>
        (await new FormBrowser().get(`${other.url}${path}`)).headers.get('Location') ?? '';
      const moved = await to('/login/oidc?next=agents/a-1');
      expect(moved).toBe(`${publicUrl}/login/oidc?moved=1&next=agents%2Fa-1`);
      expect(await to('/login/oidc')).toBe(`${publicUrl}/login/oidc?moved=1`);
      // As a proxy hands it on that has a name of its own for the gateway.
      expect((await to(new URL(moved).pathname + new URL(moved).search)).startsWith(issuer.url)).toBe(true);
    } finally {
      await other.close();
    }
  });

  test('logs in once with a code, not again', async () => {
    const browser = new FormBrowser();
    const answer = await logIn(browser, 'ada');
    const Cookie = browser.cookiesOf(gateway.url);
    expect((await browser.get(answer)).status).toBe(302);
    const replayed = await fetch(answer, { headers: { Cookie }, redirect: 'manual' });
    expect({ status: replayed.status, cookies: replayed.headers.getSetCookie() }).toEqual({
      status: 401,
      cookies: [],
    });
  });

  test.each([
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    'javascript:alert(1)',
    'a%0d%0aX: y',
  ])('goes on at no other site: %s', async (next) => {
    const browser = new FormBrowser();
    const answer = await logIn(browser, 'ada', encodeURIComponent(next));
    expect((await browser.get(answer)).headers.get('Location')).toBe('/');
  });

  test('goes on at no other site, even if its own cookie says so', async () => {
    const browser = new FormBrowser();
    const answer = await logIn(browser, 'ada');
    browser.changeBegun(gateway.url, (begun) => ({ ...begun, next: '/evil.example' }));
    const { headers } = await browser.get(answer);
    expect(headers.get('Location')?.startsWith('/#/')).toBe(true);
  });

  test('is told what the issuer refused, and nothing that a page could have made up', async () => {
    const browser = new FormBrowser();
    const to = (await browser.get(begin())).headers.get('Location') ?? '';
    const state = new URL(to).searchParams.get('state') ?? '';
    const said = new URLSearchParams({
      ...{ error: 'access_denied', error_description: 'Call 555-1234', state, iss: issuer.url },
    });
    const answer = await browser.get(`${callback}?${said.toString()}`);
    const text = await answer.text();
    expect({ status: answer.status, text }).toMatchObject({
      status: 401,
      text: expect.stringContaining('access_denied') as string,
    });
    expect(text).not.toContain('555');
  });

  test('is offered the log-in by its name, and none where none is configured', async () => {
    expect(await new ApiClient(gateway.url, null).get('/v1/login')).toEqual({
      oidc: { name: 'Example', path: '/login/oidc' },
    });
    const plain = await gatewayOn(engine);
    try {
      expect(await new ApiClient(plain.url, null).get('/v1/login')).toEqual({ oidc: null });
      expect((await fetch(`${plain.url}/login/oidc`, { redirect: 'manual' })).status).toBe(404);
      const jwt = new ApiClient(plain.url, issuer.signed({}));
      expect(await jwt.ask('GET', '/v1/me')).toMatchObject({ status: 401 });
    } finally {
      await plain.close();
    }
  });
});

testWith('chromium')(
  'a person goes from the page to the issuer’s own form and back, logged in at the same place',
  async () => {
    const browser = await ConsolePage.launch();
    try {
      const page = await (await browser.newContext()).newPage();
      // The issuer's page has fonts from elsewhere.
      await page.route(/^https?:\/\/(?!127\.0\.0\.1)/, (one) => one.abort());
      await page.goto(`${gateway.url}/#/hosts`);
      const link = page.getByRole('link', { name: 'Log in with Example' });
      expect(await link.getAttribute('href')).toBe('/login/oidc?next=hosts');
      await link.click();
      await page.locator('input[name=login]').fill('wim');
      await page.locator('input[name=password]').fill('any');
      await page.locator('button[type=submit]').click();
      // The issuer asks whether it may tell us.
      await page.locator('button[type=submit]').getByText('Continue').click();
      await page.getByRole('heading', { name: 'Hosts' }).waitFor();
      await page.getByText('wim@example.org').waitFor();
      expect(page.url()).toBe(`${gateway.url}/#/hosts`);
    } finally {
      await browser.close();
    }
  },
);

test('`holdfast serve` takes the issuer from its configuration, with the secret from a private file', async () => {
  const file = join(engine.dataDir, 'holdfast.toml');
  const secret = join(engine.dataDir, 'oidc-secret');
  writeFileSync(
    file,
    `[gateway.oidc]
issuer = "${issuer.url}"
name = "Our issuer"
client_id = "holdfast"
client_secret_file = "oidc-secret"
[gateway.oidc.roles]
team-a = { role = "operator", agents = ["a-*"] }
`,
  );
  writeFileSync(secret, 'x\n', { mode: 0o644 });
  const refused = await engine.cli(['serve', '--listen', '127.0.0.1:0']);
  expect(refused).toMatchObject({ code: 78, stderr: expect.stringContaining('mode 644') as string });
  chmodSync(secret, 0o600);
  const serving = engine.spawnCli(['serve', '--listen', '127.0.0.1:0', '--json']);
  const ended = once(serving, 'exit');
  try {
    const [said] = (await once(serving.stdout ?? serving, 'data')) as [Buffer];
    const { url } = JSON.parse(said.toString()) as { url: string };
    expect(await new ApiClient(url, null).get('/v1/login')).toMatchObject({ oidc: { name: 'Our issuer' } });
  } finally {
    serving.kill('SIGINT');
    await ended;
    rmSync(file);
  }
});

test('while the issuer is away its people are told so, tokens of the gateway work, and later all is well', async () => {
  await issuer.stop();
  const other = await gatewayOn(engine, { oidc: issuer.settings() });
  try {
    const program = new ApiClient(other.url, issuer.signed({}));
    expect(await program.ask('GET', '/v1/me')).toMatchObject({
      status: 503,
      body: { code: 'issuer_failed', retryable: true },
    });
    const own = await ApiClient.of(other, 'viewer');
    expect(await own.get('/v1/me')).toMatchObject({ role: 'viewer' });
    issuer = await issuer.again();
    await until(async () => (await program.ask('GET', '/v1/me')).status === 200);
    expect(await program.get('/v1/me')).toMatchObject({ role: 'admin', name: 'eve' });
  } finally {
    await other.close();
  }
});

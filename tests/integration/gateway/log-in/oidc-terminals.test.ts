// Terminals of programs that the organization's issuer lets in.
import { TerminalClient } from '../../../helpers/gateway/gateway';
import { GatewayOfItsOwn } from '../../../helpers/gateway/gateway-of-its-own';
import { OidcIssuer } from '../../../helpers/services/oidc-issuer';
import { QUICK_YIELD } from '../../../helpers/engines/temporal';
import { until } from '../../../helpers/until';

const own = new GatewayOfItsOwn();
let issuer: OidcIssuer;
beforeAll(async () => {
  issuer = await OidcIssuer.start({ robot: ['team-a'] });
  await own.start({ gateway: { oidc: issuer.settings() } });
  for (const agent of ['a-1', 'b-1'])
    await own.api.post(`/v1/sessions/${agent}/local/0/exec`, {
      code: 'read -p "name? " x; echo "hi $x"; cat',
      yield: { ...QUICK_YIELD, promptMs: 100 },
    });
}, 60_000);
afterAll(() => own.end(), 60_000);
afterAll(() => issuer.stop());

const open = (token: string, { agent = 'a-1', types = false } = {}): Promise<TerminalClient> =>
  TerminalClient.open(own.gateway.url, `/v1/sessions/${agent}/local/0/terminal`, { token, types });

async function refusal(client: TerminalClient): Promise<object> {
  const { problem } = await client.first('refused');
  await until(() => client.closed !== undefined);
  expect(client.closed).toEqual({ code: 1008, reason: problem.code });
  return problem;
}

test('an access token of the issuer opens the terminals of its claim’s agents, with its claim’s role', async () => {
  const typing = await open(await issuer.tokenOf('robot'), { types: true });
  expect(await typing.first('state')).toMatchObject({
    isTypist: true,
    typist: expect.stringMatching(/^robot, /) as string,
  });
  typing.type('Bob\r');
  await typing.untilShown('hi Bob');
  const watcher = issuer.signed({ groups: ['watchers'] });
  const watching = await open(watcher);
  expect((await watching.first('snapshot')).data).toContain('hi Bob');
  expect(await refusal(await open(watcher, { types: true }))).toMatchObject({ code: 'access_denied' });
  expect(await refusal(await open(await issuer.tokenOf('robot'), { agent: 'b-1' }))).toMatchObject({
    code: 'access_denied',
  });
  for (const client of [typing, watching]) client.close();
});

test.each([
  ['that names no role', { groups: ['guests'] }, 'access_denied', 'the claim "groups" with "guests"'],
  ['for another audience', { aud: 'https://else.example.org' }, 'access_needed', 'the claim "aud"'],
  ['that has expired', { exp: 1 }, 'access_needed', 'the token has expired'],
])('a token %s opens none, and its program is told why', async (_what, claims, code, detail) => {
  expect(await refusal(await open(issuer.signed(claims)))).toMatchObject({
    code,
    detail: expect.stringContaining(detail) as string,
  });
});

test('a terminal ends when its token expires, not before, and its program is told why', async () => {
  // Long enough to attach with, on a busy machine, too.
  const exp = Math.floor(Date.now() / 1_000) + 8;
  const client = await open(issuer.signed({ exp, groups: ['team-a'] }), { types: true });
  await client.first('snapshot');
  expect(await refusal(client)).toMatchObject({
    code: 'access_needed',
    detail: expect.stringContaining('the token has expired') as string,
  });
  expect(Date.now()).toBeGreaterThanOrEqual(exp * 1_000);
  // The keyboard is free for the next one.
  const next = await open(issuer.signed({ groups: ['team-a'] }), { types: true });
  expect(await next.first('state')).toMatchObject({ isTypist: true });
  next.close();
});

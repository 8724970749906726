import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { defaultPayloadConverter } from '@temporalio/common';
import { serveCodec, type CodecServer } from '../../../encryption/codec-server';
import { encryptingCodec } from '../../../encryption/data-converter';
import { parsePayloads, printPayloads } from '../../../encryption/payload-json';

const PAGE = 'http://127.0.0.1:8233';
const TOKEN = 'a-token-that-is-long-enough';
const codec = encryptingCodec(
  { keys: [{ id: 'k', env: 'K' }], required: true },
  { K: randomBytes(32).toString('hex') },
);
const body = printPayloads([defaultPayloadConverter.toPayload({ said: 'canary' })]);

let open: CodecServer;
let guarded: CodecServer;
beforeAll(async () => {
  const shared = { codec, origins: [PAGE], port: 0, address: '127.0.0.1' };
  open = await serveCodec({ ...shared, token: null });
  guarded = await serveCodec({ ...shared, token: TOKEN });
});
afterAll(() => Promise.all([open.close(), guarded.close()]));

const HEADERS = { 'content-type': 'application/json', 'x-namespace': 'default' };
const ask = (
  path: string,
  { server = open, headers = {}, ...rest }: RequestInit & { server?: CodecServer } = {},
): Promise<Response> =>
  fetch(`${server.url}${path}`, {
    method: 'POST',
    body,
    ...rest,
    headers: { ...HEADERS, ...(headers as Record<string, string>) },
  });
const refusal = async (response: Response): Promise<string> =>
  `${response.status} ${((await response.json()) as { error: { message: string } }).error.message}`;

test('it decodes what it encodes, and leaves unencrypted payloads as they are', async () => {
  const sealed = await (await ask('/encode')).text();
  expect(Buffer.from(parsePayloads(sealed)[0]?.data ?? []).toString('latin1')).not.toContain('canary');
  expect(await (await ask('/decode', { body: sealed })).text()).toBe(body);
  expect(await (await ask('/decode')).text()).toBe(body);
});

test('what was encrypted for another namespace, or with another key, is refused and not shown', async () => {
  const sealed = await (await ask('/encode')).text();
  expect(await refusal(await ask('/decode', { body: sealed, headers: { 'x-namespace': 'other' } }))).toMatch(
    /^400 A payload was made for another place: got namespace default, allowed other\./,
  );
  // Another key of the same id, as after a mix-up; and a key that this server does not have.
  for (const [id, reason] of [
    ['k', /^400 A payload cannot be opened: /],
    ['k2', /^400 .*got key "k2", allowed k\./],
  ] as const) {
    const other = encryptingCodec({ keys: [{ id, env: 'K' }] }, { K: randomBytes(32).toString('hex') });
    const shared = { codec: other, origins: [PAGE], port: 0, address: '127.0.0.1', token: null };
    const server = await serveCodec(shared);
    try {
      const foreign = await (await ask('/encode', { server })).text();
      const refused = await refusal(await ask('/decode', { body: foreign }));
      expect(refused).toMatch(reason);
      expect(refused).not.toContain('canary');
    } finally {
      await server.close();
    }
  }
});

test('a listed page may ask, with a preflight before it', async () => {
  const preflight = await ask('/decode', { method: 'OPTIONS', body: null, headers: { origin: PAGE } });
  expect(preflight.status).toBe(204);
  expect(Object.fromEntries(preflight.headers)).toMatchObject({
    'access-control-allow-origin': PAGE,
    'access-control-allow-headers': 'content-type, x-namespace, authorization',
    'access-control-allow-credentials': 'true',
    vary: 'Origin',
  });
  const answer = await ask('/encode', { headers: { origin: PAGE } });
  expect(answer.headers.get('access-control-allow-origin')).toBe(PAGE);
});

test.each(['http://evil.example', 'http://127.0.0.1:8234', 'null'])(
  'the page %s gets nothing, nor a preflight',
  async (origin) => {
    for (const method of ['OPTIONS', 'POST']) {
      const answer = await ask('/encode', {
        method,
        ...(method === 'OPTIONS' && { body: null }),
        headers: { origin },
      });
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
      expect(await refusal(answer)).toMatch(/^403 .*allowed http:\/\/127\.0\.0\.1:8233/);
    }
  },
);

test.each(['evil.example', `evil.example:80`, '127.0.0.1.evil.example', ''])(
  'a page whose name %j was rebound to this machine gets nothing, although it has the same origin as what it requests',
  async (host) => {
    const { port } = new URL(open.url);
    const headers = { ...HEADERS, host, origin: PAGE, 'content-length': String(Buffer.byteLength(body)) };
    const sent = request({
      port,
      host: '127.0.0.1',
      path: '/decode',
      method: 'POST',
      setHost: false,
      headers,
    });
    sent.end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.resume();
    expect(response.statusCode).toBe(403);
  },
);

test('if a token is set, only clients with it are answered', async () => {
  const server = guarded;
  for (const authorization of [undefined, TOKEN, `Bearer ${TOKEN}x`, 'Bearer '])
    expect(
      await refusal(await ask('/decode', { server, ...(authorization && { headers: { authorization } }) })),
    ).toMatch(/^401 .*allowed the token/);
  expect((await ask('/decode', { server, headers: { authorization: `Bearer ${TOKEN}` } })).status).toBe(200);
});

test.each([
  { title: 'another path', path: '/', options: {}, says: /^404 .*allowed POST \/encode, POST \/decode/ },
  { title: 'a look', path: '/decode', options: { method: 'GET', body: null }, says: /^405/ },
  {
    title: 'no JSON',
    path: '/decode',
    options: { body: '{"secret' },
    says: /^400 The body is invalid: got no JSON/,
  },
  {
    title: 'other JSON',
    path: '/decode',
    options: { body: '{"payloads":[{"data":3}]}' },
    says: /^400 .*a payload 0 of another form/,
  },
  { title: 'text', path: '/decode', options: { headers: { 'content-type': 'text/plain' } }, says: /^415/ },
  {
    title: 'no namespace',
    path: '/decode',
    options: { headers: { 'x-namespace': '' } },
    says: /^400 .*got no X-Namespace/,
  },
])('$title is refused with what is allowed', async ({ path, options, says }) => {
  const said = await refusal(await ask(path, options));
  expect(said).toMatch(says);
  expect(said).not.toContain('secret');
});

test('a body above the limit is refused before it is read whole', async () => {
  // Most of it is never sent.
  const headers = { ...HEADERS, 'content-length': String(1024 ** 3) };
  const sent = request(`${open.url}/decode`, { method: 'POST', headers });
  sent.on('error', () => undefined);
  sent.write('x'.repeat(33 * 1024 * 1024));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  expect(response.statusCode).toBe(413);
  expect(String(await response.toArray())).toContain('at most 33554432 bytes');
  sent.destroy();
}, 10_000);

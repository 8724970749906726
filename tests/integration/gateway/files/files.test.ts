// Files of an agent's host over HTTP: whole or not at all, in parts, and only for operators.
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, request, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Gateway } from '../../../../gateway/gateway';
import { limitRequests } from '../../../../gateway/http/limit-requests';
import { EngineOfItsOwn } from '../../../helpers/engines/engine-of-its-own';
import { ApiClient, gatewayTo } from '../../../helpers/gateway/gateway';
import { RemoteHost } from '../../../helpers/hosts/remote-host';
import { until } from '../../../helpers/until';
import { fileNeeds, pathOf } from '../../../helpers/run/programs';

fileNeeds('curl', 'openssl');

const engine = new EngineOfItsOwn();
let pi: RemoteHost;
let gateway: Gateway;
let api: ApiClient;
let work: string;
beforeAll(async () => {
  await engine.start();
  pi = new RemoteHost('pi', engine.server().address);
  gateway = await gatewayTo(pi, engine);
  api = await ApiClient.of(gateway, 'operator', ['nobody']);
  work = join(engine.dataDir, 'work');
}, 60_000);
afterAll(async () => {
  await gateway.close();
  await pi.end();
  expect(await engine.end()).toEqual([]);
}, 60_000);

const PATH = '/v1/agents/nobody/files';
const at = (path: string, more = ''): string => `${PATH}?path=${encodeURIComponent(path)}${more}`;
const digest = (data: Buffer): string => `sha-256=:${createHash('sha256').update(data).digest('base64')}:`;
const sha256 = (data: Buffer): string => createHash('sha256').update(data).digest('hex');

async function send(
  method: string,
  path: string,
  { body, headers = {} }: { body?: Buffer | string; headers?: Record<string, string> } = {},
): Promise<{ status: number; headers: Headers; body: Buffer; json: Record<string, unknown> }> {
  const answer = await fetch(gateway.url + path, {
    method,
    headers: { Authorization: `Bearer ${api.token}`, ...headers },
    ...(body !== undefined && { body: new Uint8Array(Buffer.from(body)) }),
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  const isJson = /json/.test(answer.headers.get('Content-Type') ?? '');
  const json = isJson ? (JSON.parse(bytes.toString()) as Record<string, unknown>) : {};
  return { status: answer.status, headers: answer.headers, body: bytes, json };
}

const partial = (bytes: number) => (): boolean =>
  readdirSync(work).some((name) => name.endsWith('.part') && statSync(join(work, name)).size === bytes);

/** Sends the head of a request and a part of its body, and goes away once the host has that. */
async function breakOff(path: string, data: Buffer, headers: Record<string, string | number>): Promise<void> {
  const { hostname, port } = new URL(gateway.url);
  const all = { Authorization: `Bearer ${api.token}`, ...headers };
  const sent = request({ hostname, port, path, method: 'PUT', headers: all });
  sent.on('error', () => undefined).write(data);
  await until(partial(data.length));
  sent.destroy();
}

test.each([
  ['this machine', '', () => work],
  ['a host that listens', '&host=pi', () => pi.root],
])('a file is the same after a way to %s and back', async (_host, host, place) => {
  const data = randomBytes(9_000_000);
  const put = await send('PUT', at('sent', host), { body: data, headers: { 'Repr-Digest': digest(data) } });
  expect(put).toMatchObject({ status: 200, json: { path: 'sent', bytes: 9_000_000, sha256: sha256(data) } });
  expect(readFileSync(join(place(), 'sent')).equals(data)).toBe(true);
  const got = await send('GET', at('sent', host), { headers: { 'Want-Repr-Digest': 'sha-256=1' } });
  expect(got.status).toBe(200);
  expect(got.body.equals(data)).toBe(true);
  expect(got.headers.get('Repr-Digest')).toBe(digest(data));
  expect(got.headers.get('Content-Length')).toBe('9000000');
  expect(got.headers.get('Content-Disposition')).toBe("attachment; filename*=UTF-8''sent");
});

test('a part of a file is 206; of another version all of it comes; of the same version nothing', async () => {
  mkdirSync(work, { recursive: true });
  writeFileSync(join(work, 'ten'), '0123456789');
  const whole = await send('GET', at('ten'));
  const etag = whole.headers.get('ETag') ?? '';
  const part = async (range: string, more: Record<string, string> = {}) =>
    send('GET', at('ten'), { headers: { Range: range, ...more } });
  const some = await part('bytes=2-4', { 'If-Range': etag });
  expect([some.status, some.body.toString(), some.headers.get('Content-Range')]).toEqual([
    206,
    '234',
    'bytes 2-4/10',
  ]);
  expect((await part('bytes=-3')).body.toString()).toBe('789');
  expect((await part('bytes=8-')).body.toString()).toBe('89');
  for (const nothing of ['bytes=10-', 'bytes=-0']) {
    const none = await part(nothing);
    expect([none.status, none.headers.get('Content-Range')]).toEqual([416, 'bytes */10']);
  }
  expect((await send('GET', at('ten'), { headers: { 'If-None-Match': etag } })).status).toBe(304);
  writeFileSync(join(work, 'ten'), 'abcdefghij');
  expect(await part('bytes=2-4', { 'If-Range': etag })).toMatchObject({ status: 200 });
  const head = await send('HEAD', at('ten'));
  expect([head.status, head.headers.get('Content-Length'), head.body.length]).toEqual([200, '10', 0]);
});

test('an upload that breaks off goes on from what is there, and is checked as a whole', async () => {
  const data = randomBytes(5_000_000);
  const headers = { 'Repr-Digest': digest(data) };
  await breakOff(at('broken'), data.subarray(0, 3_000_000), { ...headers, 'Content-Length': data.length });
  expect(existsSync(join(work, 'broken'))).toBe(false);
  const query = `&sha256=${sha256(data)}&bytes=${data.length}`;
  const there = async (): Promise<number> =>
    Number((await send('GET', `${PATH}/uploaded?path=broken${query}`)).json.bytes);
  await until(async () => (await there()) === 3_000_000);
  const rest = (from: number, more: Record<string, string> = headers) =>
    send('PUT', at('broken'), {
      body: data.subarray(from),
      headers: { 'Content-Range': `bytes ${from}-${data.length - 1}/${data.length}`, ...more },
    });
  expect(await rest(3_000_000, {})).toMatchObject({ status: 400 });
  expect(await rest(4_000_000)).toMatchObject({ status: 409, json: { code: 'upload_offset' } });
  expect(await rest(3_000_000)).toMatchObject({ status: 200, json: { sha256: sha256(data) } });
  expect(readFileSync(join(work, 'broken')).equals(data)).toBe(true);
  expect(await there()).toBe(0);
});

test('an upload whose token is revoked meanwhile is refused, also while no bytes come, and replaces nothing', async () => {
  writeFileSync(join(work, 'refused'), 'old');
  const { token, stored } = await gateway.tokens.create({
    ...{ name: 'brief', role: 'operator', agents: ['*'], validMs: null },
  });
  const { hostname, port } = new URL(gateway.url);
  const headers = { Authorization: `Bearer ${token}`, 'Transfer-Encoding': 'chunked' };
  const sent = request({ hostname, port, path: at('refused'), method: 'PUT', headers });
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
  sent.write(Buffer.alloc(2_000_000));
  await until(partial(2_000_000));
  await gateway.tokens.revoke(stored.id);
  const [answer] = await answered;
  // What the client sends all the same is dropped, and does not keep it from reading the answer.
  sent.end(Buffer.alloc(9_000_000));
  expect([answer.statusCode, JSON.parse(await text(answer))]).toMatchObject([401, { code: 'access_needed' }]);
  await until(() => readdirSync(work).every((name) => !name.endsWith('.part')));
  expect(readFileSync(join(work, 'refused'), 'utf8')).toBe('old');
});

test('a download that was sent whole leaves no timer that looks at its token, nor does HEAD', async () => {
  writeFileSync(join(work, 'brief'), 'brief');
  const begun: unknown[] = [];
  const { setInterval: begin, clearInterval: end } = globalThis;
  const ends = jest.spyOn(globalThis, 'clearInterval');
  const begins = jest
    .spyOn(globalThis, 'setInterval')
    .mockImplementation((...given: Parameters<typeof begin>) => {
      const timer = begin(...given);
      begun.push(timer);
      return timer;
    });
  try {
    expect((await send('GET', at('brief'))).body.toString()).toBe('brief');
    expect((await send('HEAD', at('brief'))).status).toBe(200);
    expect(begun.length).toBeGreaterThanOrEqual(2);
    await until(() => begun.every((timer) => ends.mock.calls.some(([ended]) => ended === timer)));
  } finally {
    begins.mockRestore();
    ends.mockRestore();
    for (const timer of begun) end(timer as NodeJS.Timeout);
  }
});

test('content that is not what its digest says is put nowhere', async () => {
  const answer = await send('PUT', at('wrong'), {
    body: 'content',
    headers: { 'Content-Digest': digest(Buffer.from('other')) },
  });
  expect(answer).toMatchObject({ status: 422, json: { code: 'checksum_mismatch' } });
  expect(existsSync(join(work, 'wrong'))).toBe(false);
});

test('a body that ends early replaces nothing and leaves nothing', async () => {
  writeFileSync(join(work, 'kept'), 'kept');
  await breakOff(at('kept'), Buffer.alloc(2_000_000), { 'Transfer-Encoding': 'chunked' });
  await until(() => readdirSync(work).every((name) => !name.endsWith('.part')));
  expect(readFileSync(join(work, 'kept'), 'utf8')).toBe('kept');
});

test('what is no file is refused with what to do, and what exists can be kept', async () => {
  mkdirSync(join(work, 'folder'), { recursive: true });
  symlinkSync('/dev/zero', join(work, 'endless'));
  expect(await send('GET', at('folder'))).toMatchObject({
    status: 400,
    json: { next: expect.stringContaining('holdfast cp') as string },
  });
  expect(await send('GET', at('endless'))).toMatchObject({ status: 400 });
  expect(await send('GET', at('none'))).toMatchObject({ status: 404 });
  for (const folder of ['folder', '.', '..', 'folder/'])
    expect(await send('PUT', at(folder), { body: 'x' })).toMatchObject({
      status: 400,
      json: { detail: expect.stringContaining('a folder') as string },
    });
  writeFileSync(join(work, 'old'), 'old');
  const kept = await send('PUT', at('old'), { body: 'new', headers: { 'If-None-Match': '*' } });
  expect(kept).toMatchObject({ status: 412, json: { code: 'file_exists' } });
  expect(readFileSync(join(work, 'old'), 'utf8')).toBe('old');
  const range = { 'Content-Range': 'bytes 0-1/5', 'Repr-Digest': digest(Buffer.from('x')) };
  expect(await send('PUT', at('old'), { body: 'xx', headers: range })).toMatchObject({ status: 400 });
});

const LARGE = Buffer.alloc(30_000_000);
function audited(): { what: string; status: number; code?: string; from: string }[] {
  const log = join(engine.dataDir, 'gateway', 'audit.jsonl');
  const lines = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [];
  return lines.map((line) => JSON.parse(line) as ReturnType<typeof audited>[number]);
}

const NO_CLOBBER = { 'If-None-Match': '*' };

/** As a client that sends all that it has, and reads the answer meanwhile. */
async function upload(
  path: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; text: string }> {
  const more = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const out = ['-sS', '-o', '-', '-w', '\n%{http_code}', '-H', `Authorization: Bearer ${api.token}`];
  const curl = spawn(pathOf('curl'), [...out, ...more, '-T', '-', gateway.url + path], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  curl.stdin.on('error', () => undefined).end(LARGE);
  let said = '';
  curl.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  await once(curl, 'close');
  const [text = '', status] = said.split(/\n(?=\d+$)/);
  return { status: Number(status), text };
}

test.each([
  { to: 'a file that exists', path: 'is-there', headers: NO_CLOBBER, status: 412, code: 'file_exists' },
  { to: 'a folder', path: '/etc', headers: {}, status: 400, code: 'invalid_input' },
  { to: 'a folder that is missing', path: 'no-folder/it', headers: {}, status: 404, code: 'not_found' },
])(
  'an upload to $to is refused with its reason while it is sent, and is one line of the audit log',
  async ({ path, headers, status, code }) => {
    mkdirSync(work, { recursive: true });
    writeFileSync(join(work, 'is-there'), 'old');
    const before = audited().length;
    const answer = await upload(at(path), headers);
    expect(answer).toMatchObject({ status, text: expect.stringContaining(`"${code}"`) as string });
    expect(audited().slice(before)).toMatchObject([
      {
        what: 'PUT /v1/agents/{agent}/files',
        status,
        code,
        from: expect.stringContaining('127.0.0.1') as string,
      },
    ]);
  },
);

test('a viewer reads no files, and nobody those of an agent that is not theirs', async () => {
  writeFileSync(join(work, 'secret'), 'secret');
  const viewer = await ApiClient.of(gateway, 'viewer');
  for (const [method, path] of [
    ['GET', at('secret')],
    ['PUT', at('secret')],
  ] as const)
    expect((await viewer.ask(method, path)).status).toBe(403);
  expect((await api.ask('GET', '/v1/agents/somebody/files?path=secret')).status).toBe(403);
  expect(readFileSync(join(work, 'secret'), 'utf8')).toBe('secret');
});

test('a request whose body comes too slowly is ended; an upload may last, if it goes on', async () => {
  const server = createServer((incoming, response) => {
    incoming.resume().on('end', () => response.end('all'));
  });
  limitRequests(server, 1_500);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const slow = (method: string, pauseMs: number, parts: number): Promise<string> =>
    new Promise((resolve) => {
      let got = '';
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
      socket.on('data', (chunk: Buffer) => (got += chunk.toString())).on('error', () => undefined);
      socket.write(
        `${method} / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${parts}\r\n\r\n`,
      );
      let sent = 0;
      const timer = setInterval(() => (sent++ < parts ? socket.write('x') : clearInterval(timer)), pauseMs);
      socket.on('close', () => (clearInterval(timer), resolve(got)));
    });
  const [post, put, stalled] = await Promise.all([
    slow('POST', 500, 6),
    slow('PUT', 500, 6),
    slow('PUT', 60_000, 2),
  ]);
  server.close();
  expect(post).toMatch(/^HTTP\/1.1 408/);
  expect(put).toMatch(/^HTTP\/1.1 200[\s\S]*all/);
  expect(stalled).toMatch(/^HTTP\/1.1 408/);
});

test('an upload is not ended for what its host takes long to ask for', async () => {
  const server = createServer((incoming, response) => {
    setTimeout(() => incoming.resume().on('end', () => response.end('all')), 4_000);
  });
  limitRequests(server, 1_500);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // More than fits into the buffers on the way, so that the client cannot finish.
  const body = Buffer.alloc(16 * 1024 * 1024);
  const { port } = server.address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'PUT', body });
  expect({ status: answer.status, text: await answer.text() }).toEqual({ status: 200, text: 'all' });
  server.close();
});

// Requests that offer the server another protocol, as clients do that would rather speak HTTP/2.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Gateway } from '../../../gateway/gateway';
import type { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { gatewayOn } from '../../helpers/gateway/gateway';

let dataDir: string;
let gateway: Gateway;
let token: string;
beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'holdfast-gateway-'));
  gateway = await gatewayOn({ client: {}, dataDir, namespace: 'n' } as unknown as EngineOfItsOwn);
  ({ token } = await gateway.tokens.create({ name: 'x', role: 'viewer', agents: ['*'], validMs: null }));
});
afterAll(async () => {
  await gateway.close();
  rmSync(dataDir, { recursive: true });
});

/** As Java's HttpClient and `curl --http2` write it. */
const OFFER = {
  ...{ Connection: 'Upgrade, HTTP2-Settings', Upgrade: 'h2c' },
  'HTTP2-Settings': 'AAMAAABkAAQAAP__',
};

async function ask(method: string, path: string, body: string): Promise<[status: number, body: string]> {
  const headers = {
    ...OFFER,
    ...{ Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    'Content-Length': body.length,
  };
  const asked = request(gateway.url + path, { method, headers }).end(body);
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  return [answer.statusCode ?? 0, await text(answer)];
}

test.each([
  ['GET', '/v1/me'],
  ['POST', '/v1/login'],
])('a %s that offers HTTP/2 in clear text is answered like any other', async (method, path) => {
  const body = method === 'POST' ? JSON.stringify({ token }) : '';
  expect(await ask(method, path, body)).toEqual([200, expect.stringContaining('"role":"viewer"')]);
});

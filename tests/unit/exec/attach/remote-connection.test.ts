// The connection to a listening host: a lost network is no other machine.
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, TLSSocket, type Server } from 'node:tls';
import { attachCertificate, type Certificate } from '../../../../exec/attach/attach-keys';
import { connectToHost } from '../../../../exec/attach/remote-connection';
import { HolderGone } from '../../../../exec/client/holder-client';
import { fileNeeds } from '../../../helpers/run/programs';

fileNeeds('openssl');

const folder = mkdtempSync(join(tmpdir(), 'holdfast-connection-'));
let own: Certificate;
let server: Server;
beforeAll(async () => {
  own = attachCertificate(folder, 'pi');
  server = createServer({ key: own.key, cert: own.cert }, (socket) => socket.on('error', () => undefined));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

const connected = (fingerprint: string): Promise<unknown> => {
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return connectToHost({ host: 'pi', listens: { address, fingerprint }, token: 'x' }, {}).catch(
    (err: unknown) => err,
  );
};

/** What Node gives for a connection that ends at the worst moment. */
const LOST: [string, object | null][] = [
  ['nothing', null],
  ['an empty one', {}],
];
test.each(LOST)(
  'a connection that is cut before its certificate is looked at is lost, not one to another machine: Node gives %s',
  async (_what, given) => {
    jest.spyOn(TLSSocket.prototype, 'getPeerCertificate').mockReturnValueOnce(given as never);
    const err = await connected(own.fingerprint);
    expect(err).toBeInstanceOf(HolderGone);
    expect(String(err)).toContain('the connection was lost while it was opened');
  },
);

test('a machine that shows another certificate is refused', async () => {
  expect(await connected(own.fingerprint.replaceAll('A', 'B').replaceAll('1', '2'))).toMatchObject({
    code: 'attach_refused',
  });
});

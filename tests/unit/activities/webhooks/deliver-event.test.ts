// Sends an event to a receiver that answers with what is no answer to a webhook.
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deliverEvent } from '../../../../activities/webhooks/deliver-event';
import { createAddressGuard } from '../../../../system/address-guard';
import { WebhookStore } from '../../../../system/webhooks/webhook-store';

let dataDir: string;
let receiver: Server;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'holdfast-deliveries-'));
});
afterEach(() => {
  receiver.close();
  rmSync(dataDir, { recursive: true, force: true });
});

test('a receiver that switches to another protocol fails the attempt at once, with the reason', async () => {
  receiver = createServer((socket) => {
    socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const store = new WebhookStore(dataDir);
  await store.add({
    ...{ id: 'team', url, events: ['turn.ended'], agents: ['*'], source: 'api' },
    ...{ createdAt: '2026-11-27T00:00:00.000Z' },
    secret: { value: `whsec_${Buffer.alloc(24).toString('base64')}` },
  });
  const parts = { store, guard: createAddressGuard({ allowPrivate: ['127.0.0.1'] }), env: {} };
  const data = { webhook: 'team' };
  const event = { id: 'e1', type: 'webhook.test' as const, timestamp: '2026-11-27T00:00:00.000Z', data };
  await expect(
    deliverEvent(parts, { webhook: 'team', event }, new AbortController().signal),
  ).rejects.toMatchObject({
    code: 'webhook_failed',
    message: expect.stringContaining('switches to another protocol') as string,
  });
});

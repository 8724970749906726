// Webhooks where encryption is required: events are sent, and the server has nothing of them in the clear.
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HoldfastClient } from '../../../../client/holdfast-client';
import { encryptedPayloads } from '../../../../encryption/data-converter';
import { newWebhookSecret } from '../../../../system/webhooks/webhook-store';
import { bytesIn } from '../../../helpers/engines/bytes-in';
import { GatewayOfItsOwn } from '../../../helpers/gateway/gateway-of-its-own';
import { until } from '../../../helpers/until';
import { WebhookReceiver } from '../../../helpers/services/webhook-receiver';

jest.setTimeout(180_000);

const own = new GatewayOfItsOwn();
const { engine, files } = own;
const receiver = new WebhookReceiver();
const AGENT = 'agent-7f3a';
const WEBHOOK = 'webhook-7f3a';
const SECRET = newWebhookSecret();
const KEYS = [{ id: 'k', file: join(engine.dataDir, 'k.key') }];
let client: HoldfastClient;
beforeAll(async () => {
  await receiver.open();
  receiver.secret = SECRET;
  writeFileSync(join(engine.dataDir, 'k.key'), randomBytes(32).toString('base64'), { mode: 0o600 });
  const { address } = await engine.startServer();
  const dataConverter = encryptedPayloads({ keys: KEYS, required: true });
  client = await HoldfastClient.connect({ address, namespace: engine.namespace, dataConverter }, {});
  await own.start({
    config:
      '[encryption]\nkeys = [{ id = "k", file = "k.key" }]\nrequired = true\n[fetch]\nallow_private = ["127.0.0.1"]\n',
    role: 'admin',
    gateway: { client },
  });
}, 120_000);
afterAll(() => own.end(), 60_000);
afterAll(async () => {
  await client.close();
  await receiver.close();
}, 60_000);

test('events arrive, tests and failures too, and the history of the webhook has no name, address, secret or id', async () => {
  const url = receiver.url.replace('hooks', 'address-7f3a');
  await own.api.post('/v1/webhooks', { id: WEBHOOK, url, agents: [AGENT], secret: SECRET });
  receiver.status = 500;
  const settings = files.settings([{ text: 'done' }]);
  await own.api.post('/v1/agents', { id: AGENT, task: 'first', mode: 'conversation', ...settings });
  interface Entry {
    failing: { reason: string } | null;
  }
  const entry = async (): Promise<Entry | undefined> =>
    (await own.api.get<{ items: Entry[] }>('/v1/webhooks')).items[0];
  await until(async () => (await entry())?.failing != null, 60_000);
  // To those who have the keys it says why.
  expect((await entry())?.failing?.reason).toContain('it answers 500');
  receiver.status = 204;
  const ended = await receiver.first('turn.ended', AGENT);
  const tested = await own.api.post<{ id: string }>(`/v1/webhooks/${WEBHOOK}/test`);
  await receiver.first('webhook.test');
  expect(receiver.faults).toEqual([]);
  const handle = client.temporal.workflow.getHandle(`webhook/${WEBHOOK}`);
  const isInHistory = async (): Promise<boolean> =>
    ((await handle.fetchHistory()).events ?? []).filter(
      ({ activityTaskCompletedEventAttributes: done }) => done,
    ).length >= 3;
  // A look and two deliveries.
  await until(isInHistory);
  const history = await handle.fetchHistory();
  // The name of the workflow itself, which payloads are bound to, is never encrypted: it shows that the search works.
  expect(bytesIn(history)).toContain(WEBHOOK);
  const seen = bytesIn(history, ['workflowId', 'encryption-workflow-id']);
  expect(seen).toContain('deliverEvent');
  for (const canary of [
    ...[WEBHOOK, AGENT, 'address-7f3a', SECRET, SECRET.slice('whsec_'.length)],
    ...[ended.id, tested.id, 'turn.ended', 'webhook.test', 'it answers 500'],
  ])
    expect([canary, seen.includes(canary)]).toEqual([canary, false]);
});

// The file that has a data folder's webhooks and their secrets.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HoldfastClient } from '../../../client/holdfast-client';
import { WebhookStore, type StoredWebhook } from '../../../system/webhooks/webhook-store';
import { startWebhooks } from '../../../workers/agents/webhook-starts';

const webhook: StoredWebhook = {
  ...{ id: 'team', url: 'http://127.0.0.1:9/', events: ['turn.ended'], agents: ['*'] },
  ...{ source: 'api', createdAt: '2026-11-27T00:00:00.000Z', secret: { value: 'whsec_x' } },
};
const configured = { ...webhook, id: 'own', secret: { variable: 'NONE' } };

let dataDir: string;
let file: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'holdfast-webhooks-'));
  mkdirSync(join(dataDir, 'webhooks'));
  file = join(dataDir, 'webhooks', 'webhooks.json');
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

test.each([
  ['empty, as after a power failure', ''],
  ['cut off', JSON.stringify([webhook]).slice(0, -10)],
  ['no list', '{}'],
  ['a list of something else', '[{"id":"team"}]'],
])('a file that is %s is told, and never overwritten', async (_how, text) => {
  writeFileSync(file, text);
  const store = new WebhookStore(dataDir);
  const invalid = expect.objectContaining({ code: 'config_invalid' }) as unknown;
  expect(() => store.list()).toThrow(invalid as Error);
  await expect(store.add(webhook)).rejects.toEqual(invalid);
  await expect(store.configure([configured])).rejects.toEqual(invalid);
  await expect(store.remove('team')).rejects.toEqual(invalid);
  const warn = jest.fn();
  // Agents are served all the same.
  await startWebhooks({ client: {} as HoldfastClient, store, webhooks: [configured], warn });
  expect(warn).toHaveBeenCalledWith(
    'the webhooks cannot be read',
    expect.objectContaining({ reason: expect.stringContaining(file) as string }),
  );
  expect(readFileSync(file, 'utf8')).toBe(text);
  writeFileSync(file, JSON.stringify([webhook, configured]));
  expect(store.list()).toHaveLength(2);
});

test('without a file there are no webhooks, and the first makes one', async () => {
  const store = new WebhookStore(dataDir);
  expect(store.list()).toEqual([]);
  await store.add(webhook);
  expect(new WebhookStore(dataDir).list()).toEqual([webhook]);
});

// Starts the webhooks of the configuration, and ends those that are no longer there.
import type { HoldfastClient } from '../../client/holdfast-client';
import { reasonOf } from '../../contracts/errors/holdfast-error';
import { secretFault, type StoredWebhook, type WebhookStore } from '../../system/webhooks/webhook-store';
import type { ConfiguredWebhook } from '../configuration/configured-webhooks';

export interface WebhookStartsOptions {
  client: HoldfastClient;
  store: WebhookStore;
  webhooks: readonly ConfiguredWebhook[];
  warn: (message: string, facts: object) => void;
}

/** Throws `config_invalid` if the API made a webhook with an id of the configuration. */
export async function startWebhooks({ client, store, webhooks, warn }: WebhookStartsOptions): Promise<void> {
  let before: StoredWebhook[];
  try {
    before = store.list().filter(({ source }) => source === 'config');
  } catch (err) {
    // Agents go on; events are found once the file is restored.
    return warn('the webhooks cannot be read', { reason: reasonOf(err) });
  }
  if (before.length > 0 || webhooks.length > 0) await store.configure(webhooks);
  for (const { id, secret } of webhooks) {
    const reason = secretFault(secret, process.env);
    if (reason !== undefined) warn('a webhook cannot sign', { webhook: id, reason });
  }
  const gone = before.filter(({ id }) => !webhooks.some((one) => one.id === id));
  // One whose start failed after it was written down is started here, too.
  const all = [
    ...gone.map(({ id }) => client.webhooks.end(id)),
    ...store.list().map(({ id }) => client.webhooks.start(id, { isNew: false })),
  ];
  for (const done of await Promise.allSettled(all))
    if (done.status === 'rejected') warn('a webhook could not be started', { reason: reasonOf(done.reason) });
}

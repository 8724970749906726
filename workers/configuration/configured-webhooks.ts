// `[webhooks.NAME]` of `holdfast.toml`. Reads no secret.
import { resolve } from 'node:path';
import type { WebhookTable } from '../../contracts/schemas/webhook-settings';
import type { StoredWebhook } from '../../system/webhooks/webhook-store';

export type ConfiguredWebhook = Omit<StoredWebhook, 'source' | 'createdAt'>;

/** Paths are relative to `folder`. */
export const configuredWebhooks = (
  tables: Readonly<Record<string, WebhookTable>>,
  folder: string,
): ConfiguredWebhook[] =>
  Object.entries(tables).map(([id, { url, events, agents, secret_file: file, secret_env: variable }]) => ({
    ...{ id, url, events, agents },
    secret: file === undefined ? { variable: variable ?? '' } : { file: resolve(folder, file) },
  }));

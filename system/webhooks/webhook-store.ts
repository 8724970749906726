// The webhooks of a data folder, with their secrets: one private file, which the folder's worker and every gateway read.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import { isWebhookSecret } from '../../contracts/schemas/webhook-settings';
import type { WebhookSecret, WebhookSettings } from '../../contracts/webhooks';
import { readList, stampOf, writeJson } from '../json-file';
import { withLock } from '../lock';
import { makeFolder } from '../make-folder';
import { readPrivateFile } from '../private-file';

export interface StoredWebhook extends WebhookSettings {
  secret: WebhookSecret;
}

/** Each has activities of its own, which share a worker's slots with those of agents. */
const MAX_WEBHOOKS = 32;
const SECRET_BYTES = 32;

export const newWebhookSecret = (): string => `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;

export class WebhookStore {
  private readonly file: string;
  private read: { all: StoredWebhook[]; stamp: string } = { all: [], stamp: '' };

  constructor(private readonly dataDir: string) {
    this.file = join(dataDir, 'webhooks', 'webhooks.json');
  }

  /** Throws `config_invalid` if the file is damaged; so does all that reads it. */
  list(): readonly StoredWebhook[] {
    const stamp = stampOf(this.file);
    if (stamp !== this.read.stamp) this.read = { all: readWebhooks(this.file), stamp };
    return this.read.all;
  }

  /** Throws `not_found`. */
  find(id: string): StoredWebhook {
    const found = this.list().find((one) => one.id === id);
    if (found) return found;
    const allowed = this.list().map((one) => one.id);
    throw new HoldfastError('not_found', {
      what: 'The webhook',
      got: id,
      allowed: allowed.join(', ') || 'none: this data folder has no webhooks',
    });
  }

  /** Throws `id_conflict` if there is one with this id, and `resources_exhausted`. */
  add(webhook: StoredWebhook): Promise<void> {
    return this.change((all) => {
      if (all.some(({ id }) => id === webhook.id))
        throw new HoldfastError('id_conflict', { got: webhook.id });
      return [...all, webhook];
    });
  }

  remove(id: string): Promise<void> {
    return this.change((all) => all.filter((one) => one.id !== id));
  }

  /** Replaces those of the configuration. Throws `config_invalid` if one has the id of a webhook of the API. */
  configure(webhooks: readonly Omit<StoredWebhook, 'source' | 'createdAt'>[]): Promise<void> {
    const createdAt = new Date().toISOString();
    return this.change((all) => {
      const own = all.filter(({ source }) => source === 'api');
      const taken = webhooks.filter(({ id }) => own.some((one) => one.id === id)).map(({ id }) => id);
      if (taken.length > 0)
        throw new HoldfastError('config_invalid', {
          faults: `[webhooks]: ${taken.join(', ')} exists already, made by the API`,
        });
      const before = new Map(all.map((one) => [one.id, one.createdAt]));
      return [
        ...own,
        ...webhooks.map((one): StoredWebhook => ({
          ...one,
          source: 'config',
          createdAt: before.get(one.id) ?? createdAt,
        })),
      ];
    });
  }

  private async change(work: (all: StoredWebhook[]) => StoredWebhook[]): Promise<void> {
    makeFolder(join(this.dataDir, 'webhooks'));
    await withLock(`${this.file}.lock`, async () => {
      const before = readWebhooks(this.file);
      const all = work(before);
      if (all.length > MAX_WEBHOOKS)
        throw new HoldfastError('resources_exhausted', {
          resource: 'webhooks',
          reason: `there are ${before.length}, allowed ${MAX_WEBHOOKS}`,
        });
      if (JSON.stringify(all) !== JSON.stringify(before)) writeJson(this.file, all, { flush: true });
    });
  }
}

const readWebhooks = (file: string): StoredWebhook[] =>
  readList(
    file,
    isStored,
    `${file} is no list of webhooks: it is damaged, or not written by Holdfast. Restore it, or move it away: then there ` +
      'are no webhooks but those of the configuration',
  );

function isStored(one: unknown): one is StoredWebhook {
  const { id, url, events, agents, secret } = (one ?? {}) as Partial<Record<string, unknown>>;
  const isSecret = typeof secret === 'object' && secret !== null;
  return (
    [id, url].every((text) => typeof text === 'string') && [events, agents].every(Array.isArray) && isSecret
  );
}

/** The bytes that sign. Throws with the reason, never with the secret. */
export function webhookKey(secret: WebhookSecret, env: NodeJS.ProcessEnv): Buffer {
  const [text, where] =
    'value' in secret
      ? [secret.value, 'the data folder']
      : 'file' in secret
        ? [readPrivateFile(secret.file).trim(), secret.file]
        : [env[secret.variable]?.trim(), `the worker's variable ${secret.variable}`];
  if (text !== undefined && isWebhookSecret(text)) return Buffer.from(text.slice('whsec_'.length), 'base64');
  throw new Error(`${where} holds no secret of a webhook, such as whsec_... with 24 to 64 bytes in base64`);
}

/** Why the secret cannot be used; undefined if it can. */
export function secretFault(secret: WebhookSecret, env: NodeJS.ProcessEnv): string | undefined {
  try {
    webhookKey(secret, env);
    return undefined;
  } catch (err) {
    return reasonOf(err);
  }
}

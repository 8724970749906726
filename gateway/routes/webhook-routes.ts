// Webhooks: who is notified when something happens.
import { randomBytes, randomUUID } from 'node:crypto';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import * as shapes from '../../contracts/schemas/webhook-settings';
import { ALL_AGENTS } from '../../contracts/text/glob';
import { WEBHOOK_EVENTS, type WebhookEventType, type WebhookSettings } from '../../contracts/webhooks';
import { newWebhookSecret } from '../../system/webhooks/webhook-store';
import { eachOf } from '../each-of';
import { route } from '../http/route';

const tag = 'webhooks';
const AT_ONCE = 8;

/** Without its secret. */
const shown = ({ id, url, events, agents, source, createdAt }: WebhookSettings): Shown => ({
  ...{ id, url, events: [...events], agents: [...agents], source, createdAt },
});
type Shown = Omit<WebhookSettings, 'events' | 'agents'> & { events: WebhookEventType[]; agents: string[] };

const list = route(
  {
    name: 'listWebhooks',
    ...{ method: 'GET', path: '/v1/webhooks', tag, role: 'admin' },
    summary: 'Webhooks without their secrets, how many events wait, and why',
    answer: shapes.webhookList,
  },
  async ({ context: { webhooks, client } }) => ({
    items: await eachOf([...webhooks.list()], AT_ONCE, async (one) => ({
      ...shown(one),
      ...(await client.webhooks.progress(one.id)),
    })),
    next: null,
  }),
);

const create = route(
  {
    name: 'createWebhook',
    ...{ method: 'POST', path: '/v1/webhooks', tag, role: 'admin', status: 201 },
    summary: 'Create a webhook; this answer is the only place where its secret is shown',
    description: 'It sends what happens from now on. See docs/webhooks.md.',
    body: shapes.webhookBody,
    isSecret: true,
    answer: shapes.webhookCreated,
    example: {
      id: 'on-call',
      url: 'https://example.com/holdfast',
      events: ['agent.waiting_approval' as const, 'session.lost' as const],
      agents: ['team-a-*'],
    },
  },
  async ({ body, context: { webhooks, client } }) => {
    const {
      id = `wh-${randomBytes(6).toString('hex')}`,
      url,
      events = WEBHOOK_EVENTS,
      agents = [ALL_AGENTS],
    } = body;
    const secret = body.secret ?? newWebhookSecret();
    const settings = { id, url: checkedUrl(url), events: [...new Set(events)], agents };
    const stored = { ...settings, source: 'api' as const, createdAt: new Date().toISOString() };
    await webhooks.add({ ...stored, secret: { value: secret } });
    try {
      await client.webhooks.start(id, { isNew: true });
    } catch (err) {
      // It may have started all the same, and only the answer is lost. Before the id is free: then it is another's.
      const isUndone = await client.webhooks.end(id).then(
        () => true,
        () => false,
      );
      // With an id that only we know, it stays in the list: otherwise it could not be deleted.
      if (isUndone || body.id !== undefined) await webhooks.remove(id);
      throw err;
    }
    return { ...shown(stored), secret };
  },
);

/** The schema has checked all that needs no parser. */
function checkedUrl(text: string): string {
  const url = URL.parse(text);
  if (url && url.username === '' && url.password === '') return text;
  throw new HoldfastError('invalid_input', {
    what: 'The address of the webhook',
    got: 'one that cannot be read',
    allowed: 'an http or https address without a user name',
  });
}

const remove = route(
  {
    name: 'deleteWebhook',
    ...{ method: 'DELETE', path: '/v1/webhooks/{webhook}', tag, role: 'admin', status: 204 },
    summary: 'Delete a webhook; what it has not delivered is forgotten',
  },
  async ({ params: { webhook }, context: { webhooks, client } }) => {
    const settings = webhooks.list().find(({ id }) => id === webhook);
    if (settings?.source === 'config')
      throw new HoldfastError('invalid_input', {
        what: 'The webhook to delete',
        got: `${webhook}, which is in the configuration`,
        allowed: 'one that was created by the API',
        next: `Remove [webhooks.${webhook}] from the configuration, and restart the worker.`,
      });
    const wasSending = await client.webhooks.end(webhook);
    // One whose settings are gone can be ended, too. Without both there is none: this throws.
    if (!wasSending) webhooks.find(webhook);
    if (settings) await webhooks.remove(webhook);
  },
);

const test = route(
  {
    name: 'testWebhook',
    ...{ method: 'POST', path: '/v1/webhooks/{webhook}/test', tag, role: 'admin', status: 202 },
    summary: 'Send an event `webhook.test`',
    answer: shapes.webhookTested,
  },
  async ({ params: { webhook }, context: { webhooks, client } }) => {
    const id = `evt_${randomUUID().replaceAll('-', '')}`;
    await client.webhooks.test(webhooks.find(webhook).id, id);
    return { id };
  },
);

export const WEBHOOK_ROUTES = [list, create, remove, test];

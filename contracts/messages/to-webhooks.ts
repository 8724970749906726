// The messages of `webhook`, the workflow that sends the events of one webhook.
import type { WebhookState } from '../webhooks';
import { query, signal } from './message';

export const WEBHOOK_MESSAGES = {
  state: query<undefined, WebhookState>({
    name: 'state',
    from: 'the gateway',
    does: 'How many events wait for the receiver',
  }),
  test: signal<{ id: string }>({
    name: 'test',
    from: 'the gateway',
    does: 'Send an event, to see whether the receiver takes it',
    request: { schema: 'webhookTestSchema', what: 'The test of a webhook' },
  }),
};

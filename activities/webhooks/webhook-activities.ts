// The activities of webhooks: they run where the agents are. A failure is tried again: a receiver may be back, and another
// worker's data folder may have the webhook. Unless the receiver says when, or that it is gone: then the workflow decides.
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { toFailure, toRetryableFailure } from '../../contracts/errors/failure';
import { GONE, type WebhookActivities } from '../../contracts/webhooks';
import { beating } from '../beating';
import { deliverEvent, type DeliveryParts } from './deliver-event';
import { lookForEvents, type LookParts } from './look-for-events';

export type WebhookDependencies = LookParts & DeliveryParts;

export const createWebhookActivities = (parts: WebhookDependencies): WebhookActivities => ({
  lookForEvents: (input) => beating((signal) => retryable(lookForEvents(parts, input, signal))),
  deliverEvent: (input) => beating((signal) => retryable(deliverEvent(parts, input, signal))),
});

const retryable = <T>(work: Promise<T>): Promise<T> =>
  work.catch((err: unknown) => {
    if (!(err instanceof HoldfastError)) throw err;
    const isForWorkflow = err.facts.status === GONE || err.facts.retryAfterMs !== undefined;
    const failure = isForWorkflow ? toFailure(err) : toRetryableFailure(err);
    // The web UI shows a failure's stack below its message: it would only obscure the message.
    failure.stack = '';
    throw failure;
  });

// Sends one event to a receiver, signed as Standard Webhooks has it (https://www.standardwebhooks.com, version 1).
import { createHmac } from 'node:crypto';
import { HoldfastError, reasonOf, type ErrorFacts } from '../../contracts/errors/holdfast-error';
import type { WebhookDelivery, WebhookEvent } from '../../contracts/webhooks';
import type { AddressGuard } from '../../system/address-guard';
import { retryAfterMs } from '../../system/http/retry-after';
import { webhookKey, type WebhookStore } from '../../system/webhooks/webhook-store';
import { guardedRequest } from '../../tools/fetch/guarded-request';

/** The time-out of one attempt. Standard Webhooks asks for 15 to 30 s. */
const ATTEMPT_MS = 20_000;

export interface DeliveryParts {
  store: WebhookStore;
  guard: AddressGuard;
  env: NodeJS.ProcessEnv;
}

/**
 * Throws `webhook_failed` unless the receiver answers with a status from 200 to 299: with `status`, and with `retryAfterMs` if
 * the receiver says when to ask again.
 */
export async function deliverEvent(
  { store, guard, env }: DeliveryParts,
  { webhook, event }: WebhookDelivery,
  signal: AbortSignal,
): Promise<void> {
  const { url, secret } = store.find(webhook);
  const time = AbortSignal.timeout(ATTEMPT_MS);
  try {
    const body = JSON.stringify({ type: event.type, timestamp: event.timestamp, data: event.data });
    const { response, close } = await guardedRequest({
      ...{ url: new URL(url), method: 'POST', body, guard },
      headers: {
        'content-type': 'application/json',
        'user-agent': 'holdfast',
        ...signatureOf({ event, body, key: webhookKey(secret, env) }),
      },
      signal: AbortSignal.any([signal, time]),
    });
    // Only the status counts: the body may be anything, of any length.
    close();
    const { statusCode: status = 0, headers } = response;
    if (status >= 200 && status <= 299) return;
    const after = retryAfterMs(new Headers({ 'retry-after': headers['retry-after'] ?? '' }), Date.now());
    throw failed(webhook, whatIsWrong(status), { status, ...(after && { retryAfterMs: after }) });
  } catch (err) {
    signal.throwIfAborted();
    if (err instanceof HoldfastError && err.code === 'webhook_failed') throw err;
    throw failed(webhook, time.aborted ? `it gave no answer within ${ATTEMPT_MS / 1_000} s` : reasonFor(err));
  }
}

const whatIsWrong = (status: number): string =>
  `it answers ${status}, allowed 200 to 299${status >= 300 && status < 400 ? '; redirects are not followed' : ''}`;

const failed = (webhook: string, reason: string, more: ErrorFacts = {}): HoldfastError =>
  new HoldfastError('webhook_failed', { webhook, reason, ...more });

/** Without the address, part of which may be a secret. */
function reasonFor(err: unknown): string {
  if (err instanceof HoldfastError && err.code === 'address_refused')
    return `its address is refused: ${String(err.facts.reason)}; \`fetch.allow_private\` opens private ones`;
  const { code } = err as NodeJS.ErrnoException;
  return code ?? reasonOf(err);
}

/** The time is that of the attempt: receivers refuse old ones, so that a recorded event cannot be sent again. */
function signatureOf({
  event,
  body,
  key,
}: {
  event: WebhookEvent;
  body: string;
  key: Buffer;
}): Record<string, string> {
  const seconds = Math.floor(Date.now() / 1_000);
  const signature = createHmac('sha256', key).update(`${event.id}.${seconds}.${body}`).digest('base64');
  return {
    'webhook-id': event.id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${signature}`,
  };
}

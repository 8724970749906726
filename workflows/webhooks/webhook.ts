// `webhook`: sends the events of one webhook to its receiver. An activity looks for events; each is delivered by an
// activity of its own, which the server retries for as long as it takes. So nothing depends on the receiver being there,
// and each webhook waits for its own receiver only.
import {
  condition,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import { WEBHOOK_MESSAGES as MESSAGES } from '../../contracts/messages/to-webhooks';
import { webhookInputSchema } from '../../contracts/schemas/webhook-settings';
import { inMarkdown } from '../../contracts/text/labels';
import {
  TEST_EVENT,
  type WebhookActivities,
  type WebhookCursor,
  type WebhookEvent,
  type WebhookInput,
  type WebhookState,
} from '../../contracts/webhooks';
import { Listener } from '../messages/listener';
import { messageGuard } from '../messages/message-guard';
import { checked } from '../messages/refusal';
import { continueInNextRun } from '../next-run';

/** One webhook uses at most this many of a worker's slots for receivers that hang. */
const AT_ONCE = 4;
/** Beyond this, events stay where they are found; with them, the record still fits into one payload. */
const MAX_WAITING = 1_000;
const CONTINUE_AT_EVENTS = 1_000;
/** Deliveries that fail do not hold up continue-as-new: they begin again there, with the same id. */
const DRAIN_MS = 10_000;
/** After a failure that is no attempt's. */
const PAUSE_MS = 60_000;

const { lookForEvents } = proxyActivities<WebhookActivities>({
  startToCloseTimeout: '15 minutes',
  heartbeatTimeout: '10s',
  retry: { maximumInterval: '1 minute' },
});
const { deliverEvent } = proxyActivities<WebhookActivities>({
  startToCloseTimeout: '1 minute',
  // No limit of attempts, and none of time: a receiver may be away for days.
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

interface Waiting {
  event: WebhookEvent;
  /** When it was found, ISO 8601. */
  foundAt: string;
}

/** What continue-as-new carries. */
export interface WebhookRecord {
  since: string;
  cursor: WebhookCursor;
  /** Those that are being delivered are still among them. */
  waiting: Waiting[];
  delivered: number;
}

/** Lasts until it is cancelled. */
export async function webhook(input?: WebhookInput, carried?: WebhookRecord): Promise<void> {
  const settings = checked(webhookInputSchema, 'The input of webhook', input);
  const record = carried ?? {
    since: new Date().toISOString(),
    cursor: { latest: null, seen: [] },
    waiting: [],
    delivered: 0,
  };
  await new Sender(settings.webhook, record).run();
  await continueInNextRun<typeof webhook>(settings, record);
}

class Sender {
  private readonly running = new Set<string>();
  private isDraining = false;

  constructor(
    private readonly webhook: string,
    private readonly record: WebhookRecord,
  ) {
    const signalled = (work: () => unknown): void => {
      try {
        work();
      } catch (err) {
        messageGuard().refused(err);
      }
    };
    const listener = new Listener({ admit: (parse) => parse(), signalled });
    listener.query(MESSAGES.state, () => this.state());
    listener.signal(MESSAGES.test, ({ id }) => this.take([this.testEvent(id)]));
  }

  /** Until the history is long. */
  async run(): Promise<void> {
    const { record, webhook } = this;
    this.deliver();
    while (workflowInfo().historyLength < CONTINUE_AT_EVENTS && !workflowInfo().continueAsNewSuggested) {
      const { since, cursor } = record;
      const found = await lookForEvents({ webhook, since, cursor });
      record.cursor = found.cursor;
      this.take(found.events);
      await condition(() => record.waiting.length < MAX_WAITING);
    }
    this.isDraining = true;
    await condition(() => this.running.size === 0, DRAIN_MS);
  }

  private take(events: readonly WebhookEvent[]): void {
    const { waiting } = this.record;
    const foundAt = new Date().toISOString();
    for (const event of events)
      if (!waiting.some((one) => one.event.id === event.id)) waiting.push({ event, foundAt });
    this.deliver();
  }

  private deliver(): void {
    this.show();
    if (this.isDraining) return;
    for (const { event } of this.record.waiting) {
      if (this.running.size >= AT_ONCE) return;
      if (!this.running.has(event.id)) this.send(event);
    }
  }

  private send(event: WebhookEvent): void {
    const { running, record, webhook } = this;
    running.add(event.id);
    const done = async (): Promise<void> => {
      try {
        await deliverEvent.executeWithOptions({ summary: event.type }, [{ webhook, event }]);
        record.waiting = record.waiting.filter((one) => one.event.id !== event.id);
        record.delivered += 1;
      } catch (err) {
        if (isCancellation(err)) return;
        await sleep(PAUSE_MS);
      } finally {
        running.delete(event.id);
      }
      this.deliver();
    };
    // Ended with the workflow: a cancelled pause is all that it can throw.
    done().catch(() => undefined);
  }

  private testEvent(id: string): WebhookEvent {
    return {
      ...{ id, type: TEST_EVENT, timestamp: new Date().toISOString() },
      data: { webhook: this.webhook },
    };
  }

  private state(): WebhookState {
    const { since, waiting, delivered } = this.record;
    return {
      ...{ webhook: this.webhook, since, delivered },
      waiting: waiting.length,
      waitingSince: waiting[0]?.foundAt ?? null,
    };
  }

  private show(): void {
    const { waiting, waitingSince, delivered } = this.state();
    const oldest = waitingSince === null ? '' : `, the oldest since ${inMarkdown(waitingSince)}`;
    setCurrentDetails(`${delivered} events delivered, ${waiting} waiting${oldest}`);
  }
}

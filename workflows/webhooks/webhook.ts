// `webhook`: sends the events of one webhook to its receiver. An activity looks for events; each is delivered by an
// activity of its own, which the server retries for as long as it takes. So nothing depends on the receiver being there,
// and each webhook waits for its own receiver only.
import {
  ActivityFailure,
  condition,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import { fromFailure } from '../../contracts/errors/failure';
import { WEBHOOK_MESSAGES as MESSAGES } from '../../contracts/messages/to-webhooks';
import { webhookInputSchema } from '../../contracts/schemas/webhook-settings';
import { inMarkdown } from '../../contracts/text/labels';
import {
  GONE,
  MOST_HELD_MS,
  TEST_EVENT,
  type WebhookActivities,
  type WebhookCursor,
  type WebhookEvent,
  type WebhookHeld,
  type WebhookInput,
  type WebhookState,
} from '../../contracts/webhooks';
import { Listener } from '../messages/listener';
import { messageGuard } from '../messages/message-guard';
import { checked } from '../messages/refusal';
import { continueInNextRun } from '../next-run';

/**
 * One webhook uses at most twice as many of a worker's slots for receivers that hang: for new events, and for those that
 * were refused before. A receiver that takes some events never holds up the others.
 */
const AT_ONCE = 4;
/** Beyond this, events stay where they are found; with them, the record still fits into one payload. */
const MAX_WAITING = 1_000;
const CONTINUE_AT_EVENTS = 1_000;
/** Deliveries that fail do not hold up continue-as-new: they begin again there, with the same id. */
const DRAIN_MS = 10_000;

const { lookForEvents } = proxyActivities<WebhookActivities>({
  startToCloseTimeout: '15 minutes',
  // One that fails for long begins again, so that the run may end: deliveries that are refused go on beside it.
  scheduleToCloseTimeout: '1 hour',
  heartbeatTimeout: '10s',
  retry: { maximumInterval: '1 minute' },
});
const { deliverEvent: deliverNew } = proxyActivities<WebhookActivities>({
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '1s', maximumAttempts: 2 },
});
/** Then the others have their turn, and it begins again: there is no end to it, since a receiver may be away for days. */
const { deliverEvent: deliverAgain } = proxyActivities<WebhookActivities>({
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '4s', backoffCoefficient: 4, maximumInterval: '1 minute', maximumAttempts: 4 },
});

interface Waiting {
  event: WebhookEvent;
  /** When it was found, ISO 8601. */
  foundAt: string;
  /** The receiver did not take it so far. */
  isRefused?: boolean;
}

/** What continue-as-new carries. */
export interface WebhookRecord {
  since: string;
  cursor: WebhookCursor;
  /** Those that are being delivered are still among them. */
  waiting: Waiting[];
  delivered: number;
  held?: WebhookHeld;
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

const isLong = (): boolean =>
  workflowInfo().historyLength >= CONTINUE_AT_EVENTS || workflowInfo().continueAsNewSuggested;

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
    const hasRoom = (): boolean => record.waiting.length < MAX_WAITING;
    // What is not wanted is not looked for.
    const mayLook = (): boolean => hasRoom() && !this.isGone;
    const mayGoOn = (): boolean => mayLook() || isLong();
    if (record.held?.until) this.holdUntil(record.held.until);
    this.deliver();
    // The last run may have left as much as may wait.
    if (!mayLook()) await condition(mayGoOn);
    while (!isLong()) {
      const { since, cursor } = record;
      // Not in a function of its own: another promise here would change the order of commands.
      try {
        const found = await lookForEvents({ webhook, since, cursor });
        record.cursor = found.cursor;
        this.take(found.events);
      } catch (err) {
        if (!(err instanceof ActivityFailure) || isCancellation(err)) throw err;
      }
      await condition(mayGoOn);
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
    const waiting = this.record.waiting.filter((one) => this.mayBeSent(one));
    for (const lane of [waiting.filter((one) => !one.isRefused), waiting.filter((one) => one.isRefused)]) {
      let open = lane.filter(({ event }) => this.running.has(event.id)).length;
      for (const one of lane) {
        if (open >= AT_ONCE) break;
        if (this.running.has(one.event.id)) continue;
        open += 1;
        this.send(one);
      }
    }
  }

  private get isGone(): boolean {
    return this.record.held?.until === null;
  }

  /** To a receiver that is gone only a test, once: if it takes that, it is back. */
  private mayBeSent({ event, isRefused }: Waiting): boolean {
    return !this.record.held || (this.isGone && event.type === TEST_EVENT && !isRefused);
  }

  private send(one: Waiting): void {
    const { running, record, webhook } = this;
    const { event } = one;
    const deliver = one.isRefused ? deliverAgain : deliverNew;
    running.add(event.id);
    const done = async (): Promise<void> => {
      try {
        await deliver.executeWithOptions({ summary: event.type }, [{ webhook, event }]);
        record.waiting = record.waiting.filter((other) => other.event.id !== event.id);
        record.delivered += 1;
        if (this.isGone) delete record.held;
      } catch (err) {
        if (isCancellation(err)) return;
        this.holdAsAsked(err);
        this.stepAside(one);
      } finally {
        running.delete(event.id);
      }
      this.deliver();
    };
    // Ended with the workflow: a cancelled pause is all that it can throw.
    done().catch(() => undefined);
  }

  /** What the receiver asks for concerns all that would be sent to it. */
  private holdAsAsked(err: unknown): void {
    const { record } = this;
    const { status, retryAfterMs, reason } = fromFailure(err)?.facts ?? {};
    if (status !== GONE && typeof retryAfterMs !== 'number') return;
    const ms = typeof retryAfterMs === 'number' ? Math.min(retryAfterMs, MOST_HELD_MS) : 0;
    const until = status === GONE ? null : new Date(Date.now() + ms).toISOString();
    const { since = new Date().toISOString(), times = 0 } = record.held ?? {};
    record.held = { since, until, times: times + 1, reason: String(reason) };
    if (until !== null) this.holdUntil(until);
  }

  private holdUntil(until: string): void {
    const over = async (): Promise<void> => {
      await sleep(Math.max(1, Date.parse(until) - Date.now()));
      // Another answer may have asked for more.
      if (this.record.held?.until !== until) return;
      delete this.record.held;
      this.deliver();
    };
    // Ended with the workflow, as in `send`.
    over().catch(() => undefined);
  }

  /** Behind the others that were refused. */
  private stepAside(one: Waiting): void {
    const { record } = this;
    const others = record.waiting.filter((other) => other.event.id !== one.event.id);
    record.waiting = [...others, { ...one, isRefused: true }];
  }

  private testEvent(id: string): WebhookEvent {
    return {
      ...{ id, type: TEST_EVENT, timestamp: new Date().toISOString() },
      data: { webhook: this.webhook },
    };
  }

  private state(): WebhookState {
    const { since, waiting, delivered, held = null } = this.record;
    return {
      ...{ webhook: this.webhook, since, delivered, held },
      waiting: waiting.length,
      waitingSince: waiting.map(({ foundAt }) => foundAt).sort()[0] ?? null,
    };
  }

  private show(): void {
    const { waiting, waitingSince, delivered, held } = this.state();
    const oldest = waitingSince === null ? '' : `, the oldest since ${inMarkdown(waitingSince)}`;
    const pause = held ? `; held: ${inMarkdown(held.reason)}` : '';
    setCurrentDetails(`${delivered} events delivered, ${waiting} waiting${oldest}${pause}`);
  }
}

// A model of what runs beside agents and sessions: the receivers of webhooks, the lease of a host, and values that are
// carried from one machine to another.
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import type { LeaseInput } from '../../../contracts/sessions/remote-hosts';
import { GONE, type WebhookDelivery, type WebhookFound, type WebhookLook } from '../../../contracts/webhooks';
import type { Activities, Work } from './activity-worker';
import type { Facts } from './facts';

/** `slow`: it asks for a pause. `gone`: it wants no more. */
export type Receiver = 'fine' | 'down' | 'slow' | 'gone';

const LOOK_MS = 120_000;
const PAUSE_MS = 30_000;
const LEASE_LOOK_MS = 1_000;

export class SideActivities {
  receiver: Receiver = 'fine';
  /** Instances of the host that live. */
  readonly living = new Set<string>();
  private readonly events: string[] = [];

  constructor(
    private readonly facts: Facts,
    private readonly now: () => number,
  ) {}

  /** Something has happened that the receiver wants to know. */
  happen(id: string): void {
    this.events.push(id);
    this.facts.add({ is: 'event', id });
  }

  activities = (): Activities => ({
    lookForEvents: (work, { cursor }: WebhookLook) => this.look(work, Number(cursor.latest ?? 0), true),
    deliverEvent: (work, input: WebhookDelivery) =>
      work.then(`event ${input.event.id} reaches its receiver`, () => this.deliver(work, input)),
    offerTools: (work) => work.complete({ stubs: [], tools: [] }),
  });

  /** On the host. */
  hostActivities = (): Activities => ({
    holdLease: (work, { instance }: LeaseInput) => {
      const look = (): void => {
        if (this.living.has(instance)) work.later(LEASE_LOOK_MS, `${instance} lives`, look);
        else work.complete({ reason: 'it was stopped' });
      };
      look();
    },
    readBlob: (work) => work.then('part of a value is read', () => work.complete('')),
  });

  private look(work: Work, from: number, mayWait: boolean): void {
    const found = this.events.slice(from);
    const timestamp = new Date(this.now()).toISOString();
    const event = (id: string): WebhookFound['events'][number] => ({
      ...{ id, type: 'agent.ended', timestamp },
      data: { webhook: 'w' },
    });
    const answer: WebhookFound = {
      events: found.map(event),
      cursor: { latest: String(this.events.length), seen: [] },
    };
    if (found.length === 0 && mayWait)
      work.later(LOOK_MS, 'a look for events ends', () => this.look(work, from, false));
    else work.then(`${found.length} events are found`, () => work.complete(answer));
  }

  private deliver(work: Work, { webhook, event: { id } }: WebhookDelivery): void {
    const { receiver } = this;
    const failed = { webhook, reason: receiver };
    if (receiver === 'down') throw new HoldfastError('webhook_failed', failed);
    if (receiver === 'slow') throw new HoldfastError('webhook_failed', { ...failed, retryAfterMs: PAUSE_MS });
    if (receiver === 'gone') throw new HoldfastError('webhook_failed', { ...failed, status: GONE });
    this.facts.add({ is: 'delivered', id });
    work.complete();
  }
}

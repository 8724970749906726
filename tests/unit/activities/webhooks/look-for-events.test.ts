// Which of the found events are new: none is missed, whenever the visibility store shows it, and none comes twice.
import type { FoundEvent } from '../../../../activities/webhooks/event-sources';
import { eventId } from '../../../../activities/webhooks/event-sources';
import { chooseEvents } from '../../../../activities/webhooks/look-for-events';
import type { WebhookCursor } from '../../../../contracts/webhooks';

const START = Date.parse('2026-01-01T00:00:00Z');
const NOTHING: WebhookCursor = { latest: null, seen: [] };
const OVERLAP_MS = 5 * 60_000;

const happened = (name: string, seconds: number): FoundEvent => ({
  ...{ id: eventId('turn.ended', [name]), type: 'turn.ended', agent: 'a' },
  at: new Date(START + seconds * 1_000),
  event: () => Promise.reject(new Error('not asked for')),
});
const wanted = (): boolean => true;
const idsOf = (events: readonly FoundEvent[]): string[] => events.map(({ id }) => id);

test('an event that the store shows late is found, and those around it do not come again', () => {
  const [a, late, b] = [happened('a', 0), happened('late', 1), happened('b', 2)];
  const first = chooseEvents([b, a], NOTHING, wanted);
  expect(idsOf(first.fresh)).toEqual(idsOf([a, b]));
  const second = chooseEvents([a, b, late], first.next, wanted);
  expect(idsOf(second.fresh)).toEqual(idsOf([late]));
  expect(second.next.latest).toBe(b.at.toISOString());
  expect(chooseEvents([a, b, late], second.next, wanted).fresh).toEqual([]);
});

test('a thousand events of the same moment all come, once each', () => {
  const all = Array.from({ length: 1_000 }, (_, at) => happened(`e${at}`, 7));
  const came: string[] = [];
  let cursor = NOTHING;
  for (;;) {
    const { fresh, next } = chooseEvents(all, cursor, wanted);
    if (fresh.length === 0) break;
    came.push(...idsOf(fresh));
    cursor = next;
  }
  expect(new Set(came).size).toBe(1_000);
  expect(came).toHaveLength(1_000);
});

test('while more is found than one look takes, the next look begins where this one ended', () => {
  const all = Array.from({ length: 200 }, (_, at) => happened(`e${at}`, at * 60));
  const { fresh, next } = chooseEvents(all, NOTHING, wanted);
  expect(next.latest).toBe(fresh.at(-1)?.at.toISOString());
  const rest = all.filter(({ at }) => at.getTime() >= Date.parse(next.latest ?? '') - OVERLAP_MS);
  expect(chooseEvents(rest, next, wanted).fresh[0]).toBe(all[fresh.length]);
});

test('what is remembered of events does not grow with their number', () => {
  let cursor = NOTHING;
  for (let at = 0; at < 500; at++) {
    const shown = [at - 2, at - 1, at].filter((n) => n >= 0).map((n) => happened(`e${n}`, n * 150));
    cursor = chooseEvents(shown, cursor, wanted).next;
  }
  expect(cursor.seen.length).toBeLessThanOrEqual(3);
});

test('what is not wanted moves the place where the next look begins, and nothing that is wanted is passed over', () => {
  const isOfA = ({ agent }: FoundEvent): boolean => agent === 'a';
  const others = Array.from({ length: 500 }, (_, at) => ({ ...happened(`o${at}`, at * 60), agent: 'other' }));
  const quiet = chooseEvents(others, NOTHING, isOfA);
  expect(quiet).toEqual({ fresh: [], next: { latest: others.at(-1)?.at.toISOString(), seen: [] } });
  // Shown late, but within what the store may be late.
  const late = happened('late', 499 * 60 - 200);
  expect(idsOf(chooseEvents([...others.slice(-5), late], quiet.next, isOfA).fresh)).toEqual([late.id]);
});

test('a receiver that was away for long gets its events, however many were found', () => {
  const all = Array.from({ length: 200_000 }, (_, at) => happened(`e${at}`, 7));
  expect(chooseEvents(all, NOTHING, wanted).fresh).toHaveLength(50);
});

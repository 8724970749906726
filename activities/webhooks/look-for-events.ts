// One look for events after another, until there are some. What was found shortly before is looked for again, because the
// visibility store may show it late; ids show which of it was found already.
import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { HoldfastClient } from '../../client/holdfast-client';
import type { HostNamespaces } from '../../client/hosts/host-namespaces';
import { isMatch } from '../../contracts/text/glob';
import type {
  WebhookCursor,
  WebhookEvent,
  WebhookFound,
  WebhookLook,
  WebhookPlace,
  WebhookSettings,
} from '../../contracts/webhooks';
import type { WebhookStore } from '../../system/webhooks/webhook-store';
import { areInHosts, findEvents, type FoundEvent } from './event-sources';

/** What a workflow carries for each host. */
const MOST_SEEN = 2_000;
/** How late the visibility store may be without an event being missed. */
const OVERLAP_MS = 5 * 60_000;
const PAUSE_MS = 1_000;
/** A look without events ends after this long: an activity is not meant to last for ever. */
const LONGEST_MS = 10 * 60_000;
/** Events of one look; the others are found by the next. */
const MOST_EVENTS = 50;
const AT_ONCE = 4;
/** The length of an id in the record of a webhook: 64 bits. */
const SHORT_CHARS = 20;

export interface LookParts {
  client: HoldfastClient;
  store: WebhookStore;
}

/** Throws `not_found` if the data folder has no such webhook: another worker's may have it. */
export async function lookForEvents(
  { client, store }: LookParts,
  { webhook, since, cursor: first }: WebhookLook,
  signal: AbortSignal,
): Promise<WebhookFound> {
  const until = performance.now() + LONGEST_MS;
  let cursor = first;
  for (;;) {
    const { fresh, next } = await look(client.namespaces, store.find(webhook), since, cursor);
    const events = await written(fresh);
    if (events.length > 0 || performance.now() > until) return { events, cursor: next };
    cursor = next;
    await delay(PAUSE_MS, undefined, { signal });
  }
}

/** In each namespace from its own place; one that cannot be read keeps its place, and what is there is found later. */
async function look(
  namespaces: HostNamespaces,
  { events: types, agents }: WebhookSettings,
  since: string,
  { hosts = {}, ...main }: WebhookCursor,
): Promise<{ fresh: FoundEvent[]; next: WebhookCursor }> {
  const isWanted = ({ agent }: FoundEvent): boolean => agents.some((pattern) => isMatch(pattern, agent));
  const placeOf = (client: Client): WebhookPlace =>
    client === namespaces.main ? main : (hosts[client.options.namespace] ?? main);
  const read = async (client: Client): Promise<FoundEvent[][]> => [
    await findEvents(namespaces, client, types, startOf(since, placeOf(client))),
  ];
  const { found, unread } = areInHosts(types)
    ? await namespaces.found(read)
    : { found: (await read(namespaces.main)).map((one) => ({ client: namespaces.main, one })), unread: [] };
  const fresh: FoundEvent[] = [];
  let next: WebhookPlace = main;
  const places = { ...hosts };
  for (const { namespace } of unread) places[namespace] ??= bounded(main);
  // Any of them first: one that always has more than its share must not keep out the others.
  const turn = randomInt(found.length);
  for (const { client, one } of [...found.slice(turn), ...found.slice(0, turn)]) {
    const chosen = chooseEvents(one, placeOf(client), isWanted, MOST_EVENTS - fresh.length);
    fresh.push(...chosen.fresh);
    if (client === namespaces.main) next = chosen.next;
    else places[client.options.namespace] = bounded(chosen.next);
  }
  fresh.sort(byTime);
  return { fresh, next: { ...next, hosts: places } };
}

function startOf(since: string, { latest }: WebhookPlace): Date {
  const first = Date.parse(since);
  return new Date(latest === null ? first : Math.max(first, Date.parse(latest) - OVERLAP_MS));
}

/**
 * What is wanted and was not found before, oldest first, and where to look next. What is not wanted moves that place, too:
 * otherwise each look would read everything since the last wanted event.
 */
export function chooseEvents(
  found: readonly FoundEvent[],
  { latest, seen }: WebhookPlace,
  isWanted: (event: FoundEvent) => boolean,
  most = MOST_EVENTS,
): { fresh: FoundEvent[]; next: WebhookPlace } {
  const known = new Set(seen);
  const inOrder = found.filter(isWanted).sort(byTime);
  const unseen = inOrder.filter(({ id }) => !known.has(short(id)));
  const fresh = unseen.slice(0, most);
  // Not beyond what is left for the next look, however much there is.
  const last = (unseen.length > fresh.length ? fresh : found).reduce(
    (newest, { at }) => Math.max(newest, at.getTime()),
    latest === null ? -Infinity : Date.parse(latest),
  );
  if (last === -Infinity) return { fresh, next: { latest, seen } };
  for (const { id } of fresh) known.add(short(id));
  const kept = inOrder.filter(({ id, at }) => at.getTime() >= last - OVERLAP_MS && known.has(short(id)));
  return { fresh, next: { latest: new Date(last).toISOString(), seen: kept.map(({ id }) => short(id)) } };
}

const byTime = (a: FoundEvent, b: FoundEvent): number =>
  a.at.getTime() - b.at.getTime() || (a.id < b.id ? -1 : 1);

/** Of a host, which may date any number of notices alike: then some are sent again, with the same ids. */
const bounded = ({ latest, seen }: WebhookPlace): WebhookPlace => ({ latest, seen: seen.slice(-MOST_SEEN) });

const short = (id: string): string => id.slice(0, SHORT_CHARS);

async function written(found: readonly FoundEvent[]): Promise<WebhookEvent[]> {
  const events: (WebhookEvent | null)[] = [];
  for (let at = 0; at < found.length; at += AT_ONCE)
    events.push(...(await Promise.all(found.slice(at, at + AT_ONCE).map(({ event }) => event()))));
  return events.filter((event) => event !== null);
}

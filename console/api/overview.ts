// What waits for a person, and the open agents: one stream for all pages.
import { batch, signal } from '@preact/signals';
import type { AgentEntry } from './agent-entry';
import type { InboxItem, Me } from '../../contracts/gateway/api';
import { followEvents } from './event-streams';
import { followShared } from './shared-stream';

/** Null before the first event. */
export const inbox = signal<InboxItem[] | null>(null);
export const openAgents = signal<AgentEntry[] | null>(null);

/** Of hosts, that could not be read: what waits there is not in the inbox. */
export const unreadNamespaces = signal<string[]>([]);

/** Why the gateway could not look at these; null: it could. */
interface OverviewTrouble {
  inbox: string | null;
  agents: string | null;
}
export const overviewTrouble = signal<OverviewTrouble>({ inbox: null, agents: null });

let stop: (() => void) | undefined;

const PATH = '/v1/events';
const HANDLERS = {
  inbox: ({ items, unread }: { items: InboxItem[]; unread: string[] }) => {
    const known = inbox.value;
    batch(() => {
      inbox.value = items;
      unreadNamespaces.value = unread;
    });
    showNews(items, known);
  },
  trouble: (trouble: OverviewTrouble) => void (overviewTrouble.value = trouble),
  agents: ({ items }: { items: AgentEntry[] }) => void (openAgents.value = items),
};

export function followOverview({ name, role, agents }: Me): void {
  stop?.();
  // Browsers have locks where the page came by TLS or from this machine.
  stop =
    'locks' in navigator
      ? followShared(PATH, JSON.stringify([name, role, agents]), HANDLERS)
      : followEvents(PATH, { handlers: HANDLERS });
}

/**
 * What another command of the same session asks is another one. When it began to wait is not: some print meanwhile. A
 * failure is distinguished by its time: the next one may have the same text, and the text of one may be learnt later.
 */
export const keyOf = ({ kind, agent, approval, session, since }: InboxItem): string =>
  [kind, agent, approval?.key ?? (session ? keyOfPrompt(session) : since)].join(' ');

const keyOfPrompt = ({ workflowId, prompt, echo }: NonNullable<InboxItem['session']>): string =>
  [workflowId, prompt?.command, echo].join(' ');

/** A note of the browser about what is new, if the person allowed it. */
function showNews(items: InboxItem[], known: InboxItem[] | null): void {
  document.title = items.length > 0 ? `(${items.length}) Holdfast` : 'Holdfast';
  if (known === null || !('Notification' in window) || Notification.permission !== 'granted') return;
  const before = new Set(known.map(keyOf));
  try {
    for (const item of items)
      if (!before.has(keyOf(item))) new Notification(item.agent, { body: item.text, tag: keyOf(item) });
  } catch {
    // Chrome for Android lets no page make any.
  }
}

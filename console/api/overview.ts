// What waits for a person, and the open agents: one stream for all pages.
import { signal } from '@preact/signals';
import type { AgentEntry } from './agent-entry';
import type { InboxItem } from '../../contracts/gateway/api';
import { followEvents } from './event-streams';

/** Null before the first event. */
export const inbox = signal<InboxItem[] | null>(null);
export const openAgents = signal<AgentEntry[] | null>(null);

let stop: (() => void) | undefined;

export function followOverview(): void {
  stop?.();
  stop = followEvents('/v1/events', {
    handlers: {
      inbox: ({ items }: { items: InboxItem[] }) => {
        tell(items);
        inbox.value = items;
      },
      agents: ({ items }: { items: AgentEntry[] }) => (openAgents.value = items),
    },
  });
}

export const keyOf = ({ kind, agent, approval, session, text }: InboxItem): string =>
  [kind, agent, approval?.key ?? session?.workflowId ?? text].join(' ');

/** A note of the browser about what is new, if the person allowed it. */
function tell(items: InboxItem[]): void {
  document.title = items.length > 0 ? `(${items.length}) Holdfast` : 'Holdfast';
  const known = inbox.value;
  if (known === null || !('Notification' in window) || Notification.permission !== 'granted') return;
  const before = new Set(known.map(keyOf));
  for (const item of items)
    if (!before.has(keyOf(item))) new Notification(item.agent, { body: item.text, tag: keyOf(item) });
}

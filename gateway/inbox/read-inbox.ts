// All that waits for a person, over all agents, and the agents that stopped without what was asked for. Made of what workflows say.
import type { InboxItem } from '../../contracts/gateway/api';
import type { SeenPrompt } from '../../contracts/schemas/session';
import type { SessionState } from '../../contracts/sessions/session';
import { LOCAL_HOST, parseSessionWorkflowId } from '../../contracts/ids';
import { SEARCH_ATTRIBUTES } from '../../contracts/messages';
import { mayUse, type Caller } from '../access/grants';
import { agentOf, keyed } from '../approval-keys';
import { eachOf } from '../each-of';
import type { HoldfastClient } from '../../client/holdfast-client';
import type { DismissedRuns } from './dismissed-runs';
import { failedAgents } from './failed-items';

const AT_ONCE = 8;
/** What one caller is shown of them. */
const MAX_FAILED = 50;
const SCREEN_LINES = 12;

export interface Inbox {
  items: InboxItem[];
  /** Namespaces of hosts that could not be read: what waits there is missing. */
  unread: string[];
}

/** Of all agents, oldest first. What began to wait less than a second ago may be missing. */
export async function readInbox(
  client: HoldfastClient,
  dismissed: Pick<DismissedRuns, 'all'>,
): Promise<Inbox> {
  const [asked, waiting, failed] = await Promise.all([
    approvals(client),
    inputs(client),
    failedAgents(client, dismissed),
  ]);
  const items = [...asked.items, ...waiting.items, ...failed];
  return {
    items: items.sort((a, b) => a.since.localeCompare(b.since)),
    unread: [...new Set([...asked.unread, ...waiting.unread])],
  };
}

/** What a caller sees of it. Cut only then: failures of other agents must not hide those of the caller's. */
export function inboxOf(items: readonly InboxItem[], caller: Caller): InboxItem[] {
  const mine = items.filter(({ agent }) => mayUse(caller, agent));
  const failed = new Set(mine.filter(({ kind }) => kind === 'failed').slice(-MAX_FAILED));
  return mine.filter((item) => item.kind !== 'failed' || failed.has(item));
}

async function approvals(client: HoldfastClient): Promise<Inbox> {
  const { waiting, unanswered, unread } = await client.approvals.listPublished();
  const items = waiting.map((question): InboxItem => ({
    kind: 'approval',
    agent: agentOf(question.workflowId),
    since: question.askedAt,
    text: `asks for approval: ${firstLine(question.what)}`,
    approval: keyed(question),
  }));
  return { items: [...items, ...(await silent(client, 'approval', unanswered))], unread };
}

async function inputs(client: HoldfastClient): Promise<Inbox> {
  const { sessions, unread } = await client.sessions.listPublished();
  const items = sessions.flatMap(({ agent, host, session, workflowId, state, waits }): InboxItem[] => {
    if (waits?.for !== 'input' || !state) return [];
    const screen = (state.view?.output ?? '').split('\n').slice(-SCREEN_LINES).join('\n');
    const echo = state.view?.waiting?.echo ?? true;
    const what = state.command?.firstLine ?? 'a program';
    return [
      {
        ...{ kind: 'input', agent, since: waits.since, text: `shell ${session} waits for input: ${what}` },
        session: { host, session, workflowId, screen, echo, ...promptIn(state) },
      },
    ];
  });
  const unanswered = sessions.filter(({ state }) => !state).map(({ workflowId }) => workflowId);
  return { items: [...items, ...(await silent(client, 'input', unanswered))], unread };
}

/** Workflows that have published that they wait, and do not respond: they cannot be answered now, either. */
async function silent(
  client: HoldfastClient,
  kind: 'approval' | 'input',
  workflowIds: readonly string[],
): Promise<InboxItem[]> {
  const items = await eachOf(workflowIds, AT_ONCE, async (workflowId): Promise<InboxItem | null> => {
    const ref = parseSessionWorkflowId(workflowId);
    const home = await client.namespaces.clientOf(ref?.host ?? LOCAL_HOST);
    const known = await home.workflow
      .getHandle(workflowId)
      .describe()
      .catch(() => null);
    const { [SEARCH_ATTRIBUTES.waitsFor]: waitsFor, [SEARCH_ATTRIBUTES.noticedAt]: noticedAt } =
      known?.searchAttributes ?? {};
    // One that has just ended, or was answered.
    if (known?.status.name !== 'RUNNING' || waitsFor?.[0] !== kind) return null;
    const at = noticedAt?.[0] instanceof Date ? noticedAt[0] : known.startTime;
    const who = ref ? `shell ${ref.session} on ${ref.host}` : 'its turn';
    return {
      ...{ kind, agent: agentOf(workflowId), since: at.toISOString() },
      text: `${who} waits for ${kind}, and its worker does not answer now`,
    };
  });
  return items.filter((item) => item !== null);
}

function promptIn({ view }: SessionState): { prompt?: SeenPrompt } {
  const since = view?.waiting?.since;
  return view?.commandId && since ? { prompt: { command: view.commandId, since } } : {};
}

const firstLine = (text: string): string => text.split('\n', 1)[0] ?? '';

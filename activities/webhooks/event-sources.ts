// Where events come from: facts that stay recorded when there is no reader. The ends of turns and agents, and the notices of
// sessions and turns, which are in the server's visibility store.
import { createHash } from 'node:crypto';
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { wasReset } from '../../client/agents/reset-runs';
import { listWorkflows } from '../../client/delivery/list-workflows';
import { lacksAttribute } from '../../client/delivery/with-attributes';
import type { HostNamespaces } from '../../client/hosts/host-namespaces';
import { readNotice, type Notice, type NoticeKind } from '../../contracts/agents/notices';
import { fromFailure } from '../../contracts/errors/failure';
import { ID_PATTERN, parseSessionWorkflowId } from '../../contracts/ids';
import { SEARCH_ATTRIBUTES, WORKFLOWS } from '../../contracts/messages';
import type { EndedData, WebhookEvent, WebhookEventType } from '../../contracts/webhooks';

/** An event that was found; its data may take another request. */
export interface FoundEvent {
  id: string;
  type: WebhookEventType;
  agent: string;
  at: Date;
  /** Null if it turns out to be none: the end of a run that was reset. */
  event: () => Promise<WebhookEvent | null>;
}

interface Facts {
  type: WebhookEventType;
  agent: string;
  at: Date;
  /** What makes it another event than all others. */
  key: readonly string[];
}

/** What says that it is later than this is none yet: workers' clocks may be behind the server's, but hardly more. */
const MOST_AHEAD_MS = 60_000;

/** `evt_` and 128 bits of a hash: the same event always gets the same id. */
export const eventId = (type: string, key: readonly string[]): string =>
  `evt_${createHash('sha256')
    .update(JSON.stringify([type, ...key]))
    .digest('hex')
    .slice(0, 32)}`;

function found(
  { type, agent, at, key }: Facts,
  data: (at: string) => Promise<WebhookEvent['data'] | null>,
): FoundEvent {
  const id = eventId(type, key);
  const timestamp = at.toISOString();
  const event = async (): Promise<WebhookEvent | null> => {
    const known = await data(timestamp);
    return known && { id, type, timestamp, data: known };
  };
  return { id, type, agent, at, event };
}

const WORKFLOW_OF = { 'turn.ended': WORKFLOWS.turn, 'agent.ended': WORKFLOWS.agent } as const;
type EndType = keyof typeof WORKFLOW_OF;
const isEnd = (type: WebhookEventType): type is EndType => type in WORKFLOW_OF;

/** Hosts' namespaces have notices only: agents and turns are in the agents' own. */
export const areInHosts = (types: readonly WebhookEventType[]): boolean => !types.every(isEnd);

/** Those of these types in this namespace that happened at this time or later, in any order. */
export async function findEvents(
  namespaces: HostNamespaces,
  client: Client,
  types: readonly WebhookEventType[],
  from: Date,
): Promise<FoundEvent[]> {
  const ended = client === namespaces.main ? types.filter(isEnd) : [];
  const parts = await Promise.all([
    ended.length > 0 ? ends(client, ended, from) : [],
    areInHosts(types) ? notices(namespaces, client, from) : [],
  ]);
  const until = Date.now() + MOST_AHEAD_MS;
  return parts.flat().filter(({ type, at }) => types.includes(type) && at >= from && at.getTime() <= until);
}

const OVER = 'ExecutionStatus != "Running" AND ExecutionStatus != "ContinuedAsNew"';

async function ends(client: Client, types: readonly EndType[], from: Date): Promise<FoundEvent[]> {
  const names = types.map((type) => `"${WORKFLOW_OF[type]}"`).join(', ');
  const query = `WorkflowType IN (${names}) AND ${OVER} AND CloseTime >= "${from.toISOString()}"`;
  const all: FoundEvent[] = [];
  for await (const info of listWorkflows(client, { query })) {
    const end = endOf(client, info);
    if (end) all.push(end);
  }
  return all;
}

/** Undefined for workflows that are not ours. */
function endOf(client: Client, info: WorkflowExecutionInfo): FoundEvent | undefined {
  const { workflowId, runId, closeTime: at, type, status } = info;
  const [, agent, turn] = /^(?:agent\/)?([^/]+)(?:\/turn\/(\d+))?$/.exec(workflowId) ?? [];
  const isTurn = type === WORKFLOWS.turn;
  if (!at || !agent || !ID_PATTERN.test(agent) || isTurn !== (turn !== undefined)) return undefined;
  const facts = { agent, at, key: [workflowId, runId] };
  return found({ ...facts, type: isTurn ? 'turn.ended' : 'agent.ended' }, async (endedAt) => {
    if (status.name === 'TERMINATED' && (await wasReset(client, info))) return null;
    return {
      ...{ agent, workflowId, runId, endedAt, how: status.name.toLowerCase() },
      ...(turn !== undefined && { turn: Number(turn) }),
      ...(await outcome(client, workflowId, runId)),
    };
  });
}

/** What its result says; nulls for a result of another shape, or none. */
async function outcome(
  client: Client,
  workflowId: string,
  runId: string,
): Promise<Pick<EndedData, 'reason' | 'error'>> {
  try {
    const handle = client.workflow.getHandle(workflowId, runId, { followRuns: false });
    const result = (await handle.result()) as Partial<Record<string, unknown>> | null | undefined;
    const error = result?.error as { code?: unknown } | null | undefined;
    return { reason: textOf(result?.reason), error: textOf(error?.code) };
  } catch (err) {
    return { reason: null, error: fromFailure(err)?.code ?? null };
  }
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

async function notices(namespaces: HostNamespaces, client: Client, from: Date): Promise<FoundEvent[]> {
  const all: FoundEvent[] = [];
  for (const info of await noticing(client, from))
    if (await namespaces.isHome(client, info.workflowId)) all.push(...noticesIn(info));
  return all;
}

async function noticing(client: Client, from: Date): Promise<WorkflowExecutionInfo[]> {
  const { noticedAt } = SEARCH_ATTRIBUTES;
  const query = `${noticedAt} >= "${from.toISOString()}" AND ExecutionStatus != "ContinuedAsNew"`;
  const infos: WorkflowExecutionInfo[] = [];
  try {
    for await (const info of listWorkflows(client, { query })) infos.push(info);
  } catch (err) {
    // An operator has not registered it there: then nothing sets it either.
    if (!lacksAttribute(err)) throw err;
  }
  return infos;
}

function noticesIn({ workflowId, searchAttributes }: WorkflowExecutionInfo): FoundEvent[] {
  const session = parseSessionWorkflowId(workflowId);
  const [, agent] = session ? [null, session.agent] : (/^agent\/([^/]+)\/turn\/\d+$/.exec(workflowId) ?? []);
  if (!agent || !ID_PATTERN.test(agent)) return [];
  const texts = (searchAttributes[SEARCH_ATTRIBUTES.notices] ?? []) as unknown[];
  const place = session ? { host: session.host, session: session.session } : null;
  return texts.flatMap((text) => {
    const notice = readNotice(text);
    // That a turn failed is in its end, which is an event of its own.
    if (!notice || notice.kind === 'failed') return [];
    return [noticed({ ...notice, kind: notice.kind }, { agent, workflowId, session: place })];
  });
}

function noticed(
  { kind, id, at }: Notice & { kind: Exclude<NoticeKind, 'failed'> },
  place: { agent: string; workflowId: string; session: { host: string; session: number } | null },
): FoundEvent {
  const { agent, workflowId, session } = place;
  // With its time: ids that callers give may come again in a later life of the session.
  const facts = { agent, at: new Date(at), key: [workflowId, id, at] };
  if (kind === 'lost' && session)
    return found({ ...facts, type: 'session.lost' }, async (since) => ({
      ...{ agent, workflowId, session, since },
      command: id,
    }));
  const waitsFor = kind === 'lost' ? 'input' : kind;
  const type = kind === 'approval' ? 'agent.waiting_approval' : 'agent.waiting_input';
  return found({ ...facts, type }, async (since) => ({ ...place, since, for: waitsFor, id }));
}

// The time line of an agent: the histories of the agent, its turns and its sessions, put together.
import type { Client } from '@temporalio/client';
import { agentWorkflowId, parseSessionWorkflowId, sessionWorkflowId } from '../../contracts/ids';
import { WORKFLOWS } from '../../contracts/messages';
import type { TimeLine, TimeLineEntry } from '../../contracts/gateway/time-line';
import { ofAgent } from '../agents/list-open';
import { deliver } from '../delivery/deliver';
import type { ServerFacts } from '../server-facts';
import { listWorkflows } from '../delivery/list-workflows';
import type { HostNamespaces } from '../hosts/host-namespaces';
import { entry, endOf, oneOfEachKill, silentTasks, type OwnEntry } from './entries';
import { approvalWaits, turnsOf, type FoundTurn } from './entries-of-agent';
import { entriesOfSession, type CallOfCommand } from './entries-of-session';
import { entriesOfTurn } from './entries-of-turn';
import { Budget, readRunsAfter, readRunsBefore, timeOf, type Run, type RunRef } from './read-runs';

/** Events of all histories together: about as many as 200 turns of ten steps have. */
const MAX_EVENTS = 30_000;
const MAX_SESSIONS = 100;
const AT_ONCE = 4;
/** With less room than this one history is read after another, so that the oldest ones are what is left out. */
const LITTLE_ROOM = 8_000;

export interface TimeLineOptions {
  /** How many events of histories may be read. The newest are read first. */
  maxEvents?: number | undefined;
}

/** Throws `not_found` for an agent that the server does not know, or no longer. */
export async function readTimeLine(
  namespaces: HostNamespaces,
  server: ServerFacts,
  agent: string,
  { maxEvents = MAX_EVENTS }: TimeLineOptions = {},
): Promise<TimeLine> {
  const client = namespaces.main;
  const workflowId = agentWorkflowId(agent);
  const to = { client, server, workflowId, needsWorker: false, what: 'The agent' };
  const { runId } = await deliver(to, () => client.workflow.getHandle(workflowId).describe());
  const budget = new Budget(maxEvents);
  const own = (await readRunsBefore({ client, workflowId, runId }, budget)).reverse();
  const turns = await turnsOf(own, runId);
  const entries: OwnEntry[] = closed(
    [...turns.map(({ entry: made }) => made), ...(await approvalWaits(own))],
    own,
  );
  for (const run of own) entries.push(...silentTasks(run, entry({ workflowId, turn: null, message: null })));

  const calls = new Map<string, TimeLineEntry>();
  const used = new Set<string>();
  await inOrder(turns.toReversed(), budget, async (turn) => {
    const { runs, facts } = await ofTurn(client, turn, budget);
    entries.push(...closed(facts.entries, runs));
    for (const [key, call] of facts.calls) calls.set(key, call);
    for (const { host, session } of facts.sessions) used.add(sessionWorkflowId({ agent, host, session }));
  });
  const born = timeOf(own[0]?.events[0]?.eventTime);
  const withCommand = new Set<string>();
  const callOf = (commandId: string): CallOfCommand => {
    // A script that is run again once its packages are installed has ids below its own.
    const key = calls.has(commandId) ? commandId : commandId.replace(/\/(again|install\/\d+)$/, '');
    const call = calls.get(key);
    if (call) withCommand.add(key);
    return { turn: call?.turn ?? null, message: call?.message ?? null };
  };
  await inOrder(await sessionsOf(namespaces, agent, { born, used }), budget, async (ref) => {
    const { host, session } = ref;
    const runs = (await readRunsBefore(ref, budget)).reverse();
    entries.push(...closed(await entriesOfSession(runs, { host, session, callOf }), runs));
  });
  // The command says more than the call that ran it.
  const dropped = new Set([...withCommand].map((key) => calls.get(key)));
  const items = oneOfEachKill(entries.filter((item) => !dropped.has(item)))
    .filter((item) => Date.parse(item.at) >= born)
    .sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
  return { items: items.map((item) => placed(item, turns)), truncated: budget.isExceeded };
}

async function ofTurn(
  client: Client,
  turn: FoundTurn,
  budget: Budget,
): Promise<{ runs: Run[]; facts: Awaited<ReturnType<typeof entriesOfTurn>> }> {
  const { workflowId, runId } = turn;
  const runs = runId === null ? [] : await readRunsAfter({ client, workflowId, runId }, budget);
  return { runs, facts: await entriesOfTurn(runs, turn) };
}

/** What was open when its workflow ended went on no longer. */
function closed(entries: TimeLineEntry[], runs: readonly Run[]): TimeLineEntry[] {
  const last = runs.at(-1);
  const end = last ? endOf(last) : null;
  if (end === null) return entries;
  for (const item of entries) item.durationMs ??= Math.max(0, end - Date.parse(item.at));
  return entries;
}

/** What has no place of its own is shown where its turn was. */
function placed(item: TimeLineEntry, turns: readonly FoundTurn[]): TimeLineEntry {
  if (item.message !== null || item.turn === null) return item;
  const turn = turns.find(({ turn: number }) => number === item.turn);
  return { ...item, message: turn?.firstMessage ?? null };
}

interface SessionRun extends RunRef {
  host: string;
  session: number;
}

/** The newest run of each; the server's list may lack what was opened a second ago, of which the turns know. */
async function sessionsOf(
  namespaces: HostNamespaces,
  agent: string,
  { born, used }: { born: number; used: ReadonlySet<string> },
): Promise<SessionRun[]> {
  const found = new Map<string, SessionRun>();
  const query = `WorkflowType = "${WORKFLOWS.execSession}"${ofAgent(agent)}`;
  // Newest first. What is in a namespace that cannot be read has no place here.
  await namespaces.found(async (client) => {
    for await (const { workflowId, runId, closeTime } of listWorkflows(client, { query })) {
      if (found.size >= MAX_SESSIONS) break;
      if (closeTime && closeTime.getTime() < born) continue;
      const ref = parseSessionWorkflowId(workflowId);
      if (!ref || found.has(workflowId) || !(await namespaces.isHome(client, workflowId))) continue;
      found.set(workflowId, { client, workflowId, runId, host: ref.host, session: ref.session });
    }
    return [];
  });
  for (const workflowId of used) {
    const ref = parseSessionWorkflowId(workflowId);
    if (!ref || found.has(workflowId) || found.size >= MAX_SESSIONS) continue;
    const client = await namespaces.clientOf(ref.host);
    const { runId } = await client.workflow
      .getHandle(workflowId)
      .describe()
      .catch(() => ({ runId: undefined }));
    if (runId) found.set(workflowId, { client, workflowId, runId, host: ref.host, session: ref.session });
  }
  return [...found.values()];
}

/** A few at once, while there is room for all of them. */
async function inOrder<Item>(
  items: readonly Item[],
  budget: Budget,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const rest = [...items];
  const next = async (_: unknown, lane: number): Promise<void> => {
    while (lane === 0 || budget.left > LITTLE_ROOM) {
      const item = rest.shift();
      if (item === undefined) return;
      await work(item);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
}

// Open and recently ended work: agents, turns and sessions, what each is doing and waiting for, and who ended what.
// Read-only: nothing here costs history.
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { whyEnded, wordsOf, type WhyFailed } from '../../client/agents/failed-agents';
import { ofAgent } from '../../client/agents/list-open';
import type { HoldfastClient } from '../../client/holdfast-client';
import { listWorkflows } from '../../client/delivery/list-workflows';
import { pendingActivities, type PendingActivity } from '../../client/delivery/pending-activity';
import { describeEnd } from '../../client/delivery/workflow-end';
import type { Approval } from '../../contracts/tools/approvals';
import { latestFailure } from '../../contracts/agents/failures';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { agentIdOf, parseSessionWorkflowId, type SessionRef } from '../../contracts/ids';
import type { EndReason, SubAgent, Usage } from '../../contracts/agents/agent';
import { label } from '../../contracts/text/labels';
import { SEARCH_ATTRIBUTES, WORKFLOWS } from '../../contracts/messages';
import type { HostState } from '../../contracts/schemas/remote-hosts';
import type { KilledBy, SessionState, Waiting } from '../../contracts/sessions/session';
import { wantedInput } from '../../contracts/sessions/session-facts';
import type { Snapshot } from '../../exec/protocol';
import { isLocal } from '../context';
import type { CliContext } from '../open-context';
import { withLocalHost } from '../local-host';
import { ANSWER_MS, inTime, Questions } from './timed-questions';
import { counted } from '../../contracts/text/counted';

/** One workflow, as `ps` and `tree` show it. Times are ISO 8601. */
export interface Work {
  workflowId: string;
  type: string;
  agent: string;
  since: string;
  /** Null while it is open. */
  end: { at: string | null; how: string } | null;
  /** What it is doing; null if unknown, because no worker answers. */
  doing: string | null;
  /** There was no time to ask it: this is what the server lists, without details. */
  listed: boolean;
  /** What it waits for, and since when; `trouble`: why the last attempt failed, and when the next one begins. */
  waits: { for: string; since: string; trouble?: string } | null;
  /** How the last program in it was ended, if someone or something ended it. */
  killed: { at: string | null; by: KilledBy['by']; reason: string | null } | null;
  session: SessionState | null;
  /** The agents below an agent, ended ones too, without their answers. */
  subAgents: SubAgentWork[];
  /** An agent's usage so far, if its model reports it. */
  usage: Usage | null;
  /** Of an agent and a turn: why the last turn ended without what was asked for, and what can be done. */
  failure: WhyFailed | null;
}

export interface SubAgentWork {
  agent: string;
  role: string;
  status: 'running' | 'ended';
  since: string;
  /** Why it ended; null while it runs. */
  reason: EndReason | null;
  usage: Usage | null;
}

type Details = Partial<
  Pick<Work, 'doing' | 'listed' | 'waits' | 'killed' | 'session' | 'subAgents' | 'usage' | 'failure'>
>;

const ENDED_SHOWN = 50;
/** The embedded server does nothing else while it reads a page: a tenth of a millisecond for each row. */
const PAGE_ROWS = 500;
const REASON_CHARACTERS = 200;

export interface WorkChoice {
  /** Also the latest that have ended. */
  ended?: boolean;
  /** Only what belongs to this agent. */
  agent?: string | undefined;
  /** How long many workflows are listed and asked; what has not answered by then is `listed`. */
  patienceMs?: number;
  /** Called with the namespaces of hosts that could not be read: what is there is missing. */
  onUnread?: (namespaces: string[]) => unknown;
}

const byId = new Intl.Collator('en', { numeric: true });

/** Everything open, sorted by id. */
export async function allWork(
  context: CliContext,
  { ended = false, agent, patienceMs = ANSWER_MS, onUnread }: WorkChoice = {},
): Promise<Work[]> {
  const until = Date.now() + patienceMs;
  const { agent: agents, turn, execSession } = WORKFLOWS;
  const types = [agents, turn, execSession].map((type) => `"${type}"`);
  const kind = `WorkflowType IN (${types.join(', ')})${ofAgent(agent)}`;
  const { namespaces } = context.client;
  const running = `${kind} AND ExecutionStatus = "Running"`;
  const { found, unread } = await namespaces.found(async (client) => {
    const open: WorkflowExecutionInfo[] = [];
    for await (const info of listWorkflows(client, { query: running, pageSize: PAGE_ROWS }))
      if (await namespaces.isHome(client, info.workflowId)) open.push(info);
    return open;
  });
  if (unread.length > 0) onUnread?.(unread.map(({ namespace }) => namespace));
  const open = found.map(({ one }) => one);
  const questions = new Questions(open.length, until);
  const hosts = new Map<string, Promise<HostState | undefined>>();
  const pending = open.sort(byUrgency).map((info) => openWork({ context, questions, hosts }, info));
  if (ended) {
    const query = `${kind} AND ExecutionStatus != "Running" AND ExecutionStatus != "ContinuedAsNew"`;
    const latest = await namespaces.found(async (client) => {
      const ends: WorkflowExecutionInfo[] = [];
      for await (const info of listWorkflows(client, { query, pageSize: ENDED_SHOWN })) {
        if (await namespaces.isHome(client, info.workflowId)) ends.push(info);
        if (ends.length === ENDED_SHOWN) break;
      }
      return ends;
    });
    pending.push(...latest.found.map(({ client, one }) => endedWork(client, one)));
  }
  return waitingForAgents(await Promise.all(pending)).sort(
    (a, b) => byId.compare(a.workflowId, b.workflowId) || a.since.localeCompare(b.since),
  );
}

/** A turn without an activity whose agent has running sub-agents probably waits for them: nothing else says so. */
function waitingForAgents(all: Work[]): Work[] {
  return all.map((work) => {
    if (work.type !== WORKFLOWS.turn || work.doing !== BETWEEN_STEPS) return work;
    const parent = all.find(
      ({ type, agent, end }) => type === WORKFLOWS.agent && agent === work.agent && !end,
    );
    const running = parent?.subAgents.filter(({ status }) => status === 'running') ?? [];
    const since = running.map((one) => one.since).sort()[0];
    return since ? { ...work, waits: { for: 'sub-agents, perhaps', since } } : work;
  });
}

/** Idle agents last: what the server lists of them is nearly all that there is to say. */
const byUrgency = (a: WorkflowExecutionInfo, b: WorkflowExecutionInfo): number => urgency(a) - urgency(b);

function urgency(info: WorkflowExecutionInfo): number {
  if (info.type === WORKFLOWS.turn) return 0;
  if (info.type === WORKFLOWS.execSession) return 1;
  return attributeOf(info, SEARCH_ATTRIBUTES.state) === 'idle' ? 3 : 2;
}

interface Asking {
  context: CliContext;
  questions: Questions;
  /** Those of other machines, each asked once. */
  hosts: Map<string, Promise<HostState | undefined>>;
}

async function openWork(asking: Asking, info: WorkflowExecutionInfo): Promise<Work> {
  const { context, questions } = asking;
  const { client } = context;
  const ref = parseSessionWorkflowId(info.workflowId);
  const details = ref
    ? await sessionAt(asking, ref)
    : await questions.ask(() =>
        info.type === WORKFLOWS.turn ? turnAt(client, info) : agentAt(client, info),
      );
  return { ...workOf(info), ...(details ?? (questions.areAllAsked ? {} : listedWork(info))) };
}

/** What the server itself knows; nothing if it has no such search attributes. */
function listedWork(info: WorkflowExecutionInfo): Details {
  const state = attributeOf(info, SEARCH_ATTRIBUTES.state)?.replace('_', ' ');
  const waitsFor = attributeOf(info, SEARCH_ATTRIBUTES.waitsFor);
  const isWaiting = waitsFor !== undefined && waitsFor !== 'none' && state !== 'idle';
  const why = latestFailure(info.searchAttributes[SEARCH_ATTRIBUTES.notices] ?? [])?.why;
  const failed = waitsFor === 'retry' && why !== undefined ? `, its last turn failed: ${why}` : '';
  const doing =
    state === undefined ? null : isWaiting ? `${state}, waits for ${waitsFor}` : `${state}${failed}`;
  return { doing, listed: true };
}

function attributeOf({ searchAttributes }: WorkflowExecutionInfo, name: string): string | undefined {
  const [value] = searchAttributes[name] ?? [];
  return typeof value === 'string' ? value : undefined;
}

async function endedWork(client: Client, info: WorkflowExecutionInfo): Promise<Work> {
  const isSession = info.type === WORKFLOWS.execSession;
  const [how, failure] = await Promise.all([
    inTime(describeEnd(client, info)),
    isSession ? null : inTime(whyEnded(client, info)),
  ]);
  const end = { at: info.closeTime?.toISOString() ?? null, how: how ?? info.status.name.toLowerCase() };
  return { ...workOf(info), end, failure: failure ?? null };
}

function workOf({ workflowId, type, startTime }: WorkflowExecutionInfo): Work {
  const agent = parseSessionWorkflowId(workflowId)?.agent ?? workflowId.split('/')[1] ?? workflowId;
  const nothing = { end: null, doing: null, listed: false, waits: null, killed: null, session: null };
  const below = { subAgents: [], usage: null, failure: null };
  return { workflowId, type, agent, since: startTime.toISOString(), ...nothing, ...below };
}

async function agentAt(client: HoldfastClient, { workflowId }: WorkflowExecutionInfo): Promise<Details> {
  const state = await client.agent(agentIdOf(workflowId)).ownState();
  const { status, currentTurn, queued, turns, agents, usage, lastResult } = state;
  const more = queued > 0 ? `, ${counted(queued, 'more message waits', 'more messages wait')}` : '';
  const doing = currentTurn
    ? `${status}: turn ${currentTurn.split('/').at(-1)}${more}`
    : `${status} after ${counted(turns, 'turn')}${more}`;
  const failure = currentTurn === null && lastResult ? wordsOf(lastResult, { isOpen: true }) : null;
  return { doing, usage, failure, subAgents: agents.map(subAgentWork) };
}

const subAgentWork = ({ agentId, role, status, since, result }: SubAgent): SubAgentWork => ({
  agent: agentId,
  role,
  status,
  since,
  reason: result?.reason ?? null,
  usage: result?.usage ?? null,
});

const BETWEEN_STEPS = 'between two steps';

/** Inferred from its open activities: its steps are model calls and tool calls. */
async function turnAt(
  client: HoldfastClient,
  { workflowId, runId }: WorkflowExecutionInfo,
): Promise<Details> {
  const open = await pendingActivities(client.temporal, workflowId, runId);
  const [first] = open;
  if (!first) return (await approvalAt(client, workflowId)) ?? { doing: BETWEEN_STEPS };
  if (first.type === 'awaitQuota') return quotaWaitAt(client, workflowId, first);
  const what =
    open.length > 1 ? `${open.length} tool calls` : first.type === 'callModel' ? 'the model' : 'a tool';
  return {
    doing: first.attempt > 1 ? `attempt ${first.attempt}` : 'at work',
    waits: { for: what, since: first.since.toISOString(), ...troubleOf(first) },
  };
}

/** Since when, the turn says: its activity begins again and again. */
async function quotaWaitAt(
  client: HoldfastClient,
  workflowId: string,
  { since }: PendingActivity,
): Promise<Details> {
  const { doing: trouble, since: from = since.toISOString() } = (await client.turnState(workflowId)) ?? {};
  return { doing: 'waits', waits: { for: 'quota', since: from, ...(trouble !== undefined && { trouble }) } };
}

/** Why it is tried again, and when. */
function troubleOf({ attempt, failure, nextAttemptAt }: PendingActivity): { trouble?: string } {
  if (!failure) return {};
  const failed = nextAttemptAt ? attempt : attempt - 1;
  const next = nextAttemptAt ? `; next attempt at ${nextAttemptAt.toTimeString().slice(0, 8)}` : '';
  const reason = label(failure.reason, REASON_CHARACTERS);
  return { trouble: `attempt ${failed} failed: ${failure.code}: ${reason}${next}` };
}

/** A turn without an activity may wait for an approval. */
async function approvalAt(client: HoldfastClient, workflowId: string): Promise<Details | undefined> {
  const [first] = await client.approvals.of(workflowId).catch(() => []);
  return first && { doing: 'waits', waits: approvalWait(first) };
}

const approvalWait = ({ what, askedAt }: Approval): Work['waits'] => ({
  for: `an approval: ${what}`,
  since: askedAt,
});

/** Undefined without an answer. */
async function sessionAt(asking: Asking, ref: SessionRef): Promise<Details | undefined> {
  const { context, questions } = asking;
  const isHere = isLocal(context, ref.host);
  const [session, holder, host] = await Promise.all([
    questions.ask(() => context.client.session(ref).state()),
    isHere ? inTime(look(context.dataDir, ref)) : undefined,
    isHere ? undefined : hostAt(asking, ref.host),
  ]);
  const held = session?.approvals?.[0];
  if (held) return { doing: 'waits', waits: approvalWait(held), session };
  const details = `${callsOf(session)}${lineOf(session)}`;
  if (holder) return { ...holder, doing: `${holder.doing}${details}`, session: session ?? null };
  if (!session) return undefined;
  const { command, view, status, epoch } = session;
  const waits = view?.waiting && command ? waitOf(view.waiting, command.startedAt) : null;
  const doing = [status.replace('_', ' '), command?.runtime, `epoch ${epoch}`].filter(Boolean).join(', ');
  const killed = view?.killedBy ? { at: null, ...view.killedBy } : null;
  // The workflow knows what was reported last: whether that still holds is not known.
  const last = host?.status === 'offline' ? `host ${ref.host} is offline, last known: ` : '';
  return { doing: `${last}${doing}${details}`, waits, killed, session };
}

/** Undefined if it is not known, or did not answer. */
function hostAt(
  { context, questions, hosts }: Asking,
  name: SessionRef['host'],
): Promise<HostState | undefined> {
  const asked = hosts.get(name) ?? questions.ask(() => context.client.hosts.state(name));
  hosts.set(name, asked);
  return asked;
}

async function look(dataDir: string, ref: SessionRef): Promise<Details> {
  try {
    return fromHolder(await withLocalHost(dataDir, (host) => host.status(ref)));
  } catch (err) {
    if (!(err instanceof HoldfastError) || err.code !== 'session_unreachable') throw err;
    return { doing: `does not answer: pid ${err.facts.pid} is ${err.facts.state}` };
  }
}

/** Open tool calls of its scripts. */
function callsOf(session: SessionState | undefined): string {
  const open = session?.toolCalls.open.map(({ tool }) => tool) ?? [];
  return open.length > 0 ? `, calls ${[...new Set(open)].join(', ')}` : '';
}

/** The first line of what runs. */
const lineOf = (session: SessionState | undefined): string =>
  session?.command ? `: ${session.command.firstLine}` : '';

/** The holder's own state: fresher than the workflow's. */
function fromHolder({ command, epoch, waiting, degraded }: Snapshot): Details {
  if (!command) return { doing: 'nothing has run yet' };
  const since = new Date(command.startedAt).toISOString();
  const faults = degraded ? [`degraded: ${degraded}`] : [];
  if (command.endedAt === null) {
    const doing = [`running ${command.runtime}`, `epoch ${epoch}`, ...faults].join(', ');
    return { doing, waits: waiting && waitOf(waiting, since) };
  }
  const { killedBy, exitCode, lost } = command;
  const last = lost ? ['lost'] : exitCode === null ? [] : [`last exit code ${exitCode}`];
  return {
    doing: ['idle', ...last, `epoch ${epoch}`, ...faults].join(', '),
    killed: killedBy && { at: new Date(command.endedAt).toISOString(), ...killedBy },
  };
}

const waitOf = ({ echo, certainty, since }: Waiting, startedAt: string): Work['waits'] => ({
  for: `${wantedInput({ echo })}${certainty === 'hint' ? ', perhaps' : ''}`,
  since: since ?? startedAt,
});

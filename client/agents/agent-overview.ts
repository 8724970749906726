// What an agent is doing, from all that know a part of it: the agent knows its messages, its turn the step, and each
// session its command. Only queries, which leave no trace in history.
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { AgentOverview, AgentState, Shell, ShellState, TurnState } from '../../contracts/agents/agent';
import { LOCAL_HOST, parseSessionWorkflowId, shellOf } from '../../contracts/ids';
import { WORKFLOWS } from '../../contracts/messages';
import type { Message } from '../../contracts/messages/message';
import { TURN_MESSAGES } from '../../contracts/messages/to-agents';
import { SESSION_MESSAGES } from '../../contracts/messages/to-sessions';
import type { SessionState } from '../../contracts/sessions/session';
import type { Wait } from '../../contracts/agents/waits';
import type { ServerFacts } from '../server-facts';
import { deliverQuery } from '../delivery/send-message';
import type { HostNamespaces } from '../hosts/host-namespaces';
import { queryHost } from '../hosts/query-host';
import { ofAgent, openWorkflows } from './list-open';

/** An answer must not wait for one workflow whose worker is gone. */
const QUERY_MS = 3_000;

export interface Asking {
  client: Client;
  namespaces: HostNamespaces;
  server: ServerFacts;
}

/** What does not answer within three seconds is null. */
export async function overviewOf(asking: Asking, state: AgentState): Promise<AgentOverview> {
  const { currentTurn } = state;
  const [turn, found] = await Promise.all([
    currentTurn === null ? null : turnState(asking, currentTurn),
    shellsOf(asking, state),
  ]);
  const known = new Map([...found, ...(turn?.sessions ?? [])].map((shell) => [shell.workflowId, shell]));
  const asked = await Promise.all([...known.values()].map((shell) => shellState(asking, shell)));
  const shells = asked.filter(({ status }) => status !== 'closed');
  const ofShell = shells.map((shell) => shell.waits).find((wait) => wait !== null);
  const own = state.waits;
  const isByTurn = own?.for === 'turn' || own === null;
  return { ...state, turn, shells, waits: isByTurn ? (ofShell ?? turn?.waits ?? own) : own };
}

/** Null if it does not answer within three seconds. */
export const turnState = (asking: Asking, workflowId: string): Promise<TurnState | null> =>
  ask({ ...asking, workflowId, query: TURN_MESSAGES.state, what: 'The turn' });

/** The agent learns of a session when its turn ends; the server lists it from the start, on any host. */
async function shellsOf({ namespaces }: Asking, state: AgentState): Promise<Shell[]> {
  const { agent, host = LOCAL_HOST, sessions } = state;
  const own = sessions.map((session) => shellOf({ agent, host, session }));
  try {
    const { found } = await namespaces.found((client) =>
      openWorkflows(client, [WORKFLOWS.execSession], ofAgent(agent)),
    );
    for (const { client, one } of found) {
      const ref = parseSessionWorkflowId(one.workflowId);
      if (ref && (await namespaces.isHome(client, one.workflowId))) own.push(shellOf(ref));
    }
  } catch {
    // The time-skipping test server cannot list.
  }
  return own;
}

async function shellState(asking: Asking, shell: Shell): Promise<ShellState> {
  const { host, session, workflowId } = shell;
  const known = { host, session, workflowId };
  const client = await asking.namespaces.clientOf(host).catch(() => undefined);
  const state = client && (await sessionState({ ...asking, client }, workflowId));
  if (!state) return { ...known, status: null, command: null, waits: null, logEnd: null };
  const { status, command, view } = state;
  return { ...known, status, command, waits: waitOf(state, workflowId), logEnd: view?.to ?? 0 };
}

/** Null if it does not answer within three seconds, or in another shape. */
export function sessionState({ client, server }: Asking, workflowId: string): Promise<SessionState | null> {
  const to = { client, server, workflowId, needsWorker: true, what: 'The session' };
  return inTime(client, () => queryHost(to, SESSION_MESSAGES.state));
}

export function waitOf({ approvals, status, view, command }: SessionState, workflowId: string): Wait | null {
  const [asked] = approvals;
  if (asked) return { for: 'approval', since: asked.askedAt, workflowId };
  if (status !== 'waiting_input' || !command) return null;
  return { for: 'input', since: view?.waiting?.since ?? command.startedAt, workflowId };
}

interface Question<Request, Answer> extends Asking {
  workflowId: string;
  query: Message<Request, Answer, 'query'>;
  request?: Request;
  what: string;
}

/** Null for what does not answer within three seconds, or no longer exists. */
export function ask<Request, Answer>({
  client,
  server,
  workflowId,
  query,
  request,
  what,
}: Question<Request, Answer>): Promise<Answer | null> {
  const to = { client, server, workflowId, needsWorker: true, what };
  return inTime(client, () => deliverQuery(to, query, request));
}

/** The same of any answer. */
export async function inTime<Answer>(client: Client, answer: () => Promise<Answer>): Promise<Answer | null> {
  const over = new AbortController();
  try {
    const answered = client.withAbortSignal(over.signal, answer);
    return await Promise.race([answered, delay(QUERY_MS, null, { signal: over.signal })]);
  } catch {
    // It has ended and is no longer kept, was never opened, or belongs to a release without this query.
    return null;
  } finally {
    over.abort();
  }
}

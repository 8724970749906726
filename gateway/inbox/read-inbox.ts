// All that waits for a person, over all agents, and the agents that have failed lately. Made of what workflows say.
import type { InboxItem } from '../../contracts/gateway/api';
import type { AgentEntry } from '../../client/agents/agent-directory';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { knownError } from '../../system/known-error';
import { agentOf, keyed } from '../approval-keys';
import { eachOf } from '../each-of';
import type { HoldfastClient } from '../../client/holdfast-client';

const AT_ONCE = 8;
const MAX_FAILED = 50;
/** Older failures are for the list of agents. */
const FAILED_MS = 24 * 3_600_000;
const SCREEN_LINES = 12;

/** Of all agents, oldest first. What began to wait less than a second ago may be missing. */
export async function readInbox(client: HoldfastClient): Promise<InboxItem[]> {
  const parts = await Promise.all([approvals(client), inputs(client), failures(client)]);
  return parts.flat().sort((a, b) => a.since.localeCompare(b.since));
}

async function approvals(client: HoldfastClient): Promise<InboxItem[]> {
  const pending = await client.approvals.listTold();
  return pending.map((question) => ({
    kind: 'approval',
    agent: agentOf(question.workflowId),
    since: question.askedAt,
    text: `asks for approval: ${firstLine(question.what)}`,
    approval: keyed(question),
  }));
}

async function inputs(client: HoldfastClient): Promise<InboxItem[]> {
  const sessions = await client.sessions.list({ isWaiting: true });
  return sessions.flatMap(({ agent, host, session, workflowId, state, waits }): InboxItem[] => {
    if (waits?.for !== 'input' || !state) return [];
    const screen = (state.view?.output ?? '').split('\n').slice(-SCREEN_LINES).join('\n');
    const echo = state.view?.waiting?.echo ?? true;
    const what = state.command?.firstLine ?? 'a program';
    return [
      {
        ...{ kind: 'input', agent, since: waits.since, text: `shell ${session} waits for input: ${what}` },
        session: { host, session, workflowId, screen, echo },
      },
    ];
  });
}

async function failures(client: HoldfastClient): Promise<InboxItem[]> {
  const failed: AgentEntry[] = [];
  for await (const entry of client.agents.list({ state: 'ended' })) {
    if (entry.end?.at && Date.now() - Date.parse(entry.end.at) > FAILED_MS) break;
    if (entry.end?.how === 'failed') failed.push(entry);
    if (failed.length === MAX_FAILED) break;
  }
  return eachOf(failed, AT_ONCE, async ({ id, end, startedAt }): Promise<InboxItem> => {
    const { code, message, next } = await failureOf(client, id);
    const since = end?.at ?? startedAt;
    return {
      kind: 'failed',
      agent: id,
      since,
      text: `has failed: ${code}`,
      failure: { code, message, next },
    };
  });
}

/** The result of an ended agent is recorded: it answers at once. */
async function failureOf(client: HoldfastClient, agent: string): Promise<HoldfastError> {
  try {
    const { error } = await client.agent(agent).result();
    return error
      ? HoldfastError.received(error.code, error.facts)
      : new HoldfastError('internal', { reason: 'it says nothing' });
  } catch (err) {
    return knownError(err);
  }
}

const firstLine = (text: string): string => text.split('\n', 1)[0] ?? '';

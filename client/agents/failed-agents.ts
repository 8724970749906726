// The agents whose last turn ended without what was asked for, from the server's visibility store, and why; the list needs
// no worker.
import { WorkflowFailedError, type Client, type WorkflowExecutionInfo } from '@temporalio/client';
import { CancelledFailure, TerminatedFailure } from '@temporalio/common';
import { agentIdOf } from '../../contracts/ids';
import type { AgentResult } from '../../contracts/agents/agent';
import { hasFailed, latestFailure } from '../../contracts/agents/failures';
import { fromFailure } from '../../contracts/errors/failure';
import { HoldfastError, isErrorCode } from '../../contracts/errors/holdfast-error';
import { counted } from '../../contracts/text/counted';
import { SEARCH_ATTRIBUTES, WORKFLOWS } from '../../contracts/messages';
import { listWorkflows } from '../delivery/list-workflows';
import { lacksAttribute } from '../delivery/with-attributes';
import { failureText } from '../delivery/workflow-end';
import type { HoldfastClient } from '../holdfast-client';

export interface FailedAgent {
  agent: string;
  workflowId: string;
  runId: string;
  /** ISO 8601. */
  since: string;
  /** An open one goes on with the next message. */
  isOpen: boolean;
  /** The agent that has started it; null for the topmost. */
  parent: string | null;
  /** The turn that failed, and why in a word; null if the workflow failed before it could say so. */
  turn: number | null;
  why: string | null;
}

/** Why a turn ended without what was asked for, and what can be done. */
export interface WhyFailed {
  /** The error's code; if there is none, the reason of the turn's end. */
  code: string;
  message: string;
  next: string;
}

const AGENTS = `WorkflowType = "${WORKFLOWS.agent}"`;

/** Open ones, and those that have ended since then; at most `most`. */
export async function listFailedAgents(
  { temporal }: Pick<HoldfastClient, 'temporal'>,
  since: Date,
  most: number,
): Promise<FailedAgent[]> {
  const ended = `CloseTime >= "${since.toISOString()}"`;
  const failed = `ExecutionStatus = "Failed" AND ${ended}`;
  const waiting =
    `${SEARCH_ATTRIBUTES.waitsFor} = "retry" AND (ExecutionStatus = "Running" OR ` +
    `(ExecutionStatus = "Completed" AND ${ended}))`;
  const list = async (query: string): Promise<FailedAgent[]> => {
    const found: FailedAgent[] = [];
    for await (const info of listWorkflows(temporal, { query, pageSize: most })) {
      found.push(failedAgent(info));
      if (found.length === most) break;
    }
    return found;
  };
  try {
    return await list(`${AGENTS} AND ((${failed}) OR (${waiting}))`);
  } catch (err) {
    // The server lacks the attribute: then none publishes it.
    if (lacksAttribute(err)) return list(`${AGENTS} AND ${failed}`);
    throw err;
  }
}

function failedAgent(info: WorkflowExecutionInfo): FailedAgent {
  const { workflowId, runId, status, closeTime, startTime, parentExecution } = info;
  const failure = latestFailure(info.searchAttributes[SEARCH_ATTRIBUTES.notices] ?? []);
  return {
    ...{ agent: agentIdOf(workflowId), workflowId, runId },
    since: failure?.at ?? (closeTime ?? startTime).toISOString(),
    isOpen: status.name === 'RUNNING',
    parent: /^agent\/([^/]+)$/.exec(parentExecution?.workflowId ?? '')?.[1] ?? null,
    ...{ turn: failure?.turn ?? null, why: failure?.why ?? null },
  };
}

/**
 * Of this run: an agent that was started again under the same id may go on for days. Null if what failed is over: it has
 * gone on meanwhile. Throws if it cannot be asked.
 */
export async function whyFailed(
  client: HoldfastClient,
  { agent, workflowId, runId, isOpen }: FailedAgent,
): Promise<WhyFailed | null> {
  if (isOpen) {
    const { lastResult, waits } = await client.agent(agent).ownState(runId);
    return lastResult && waits?.for === 'retry' ? wordsOf(lastResult, { isOpen }) : null;
  }
  return whyEnded(client.temporal, { workflowId, runId });
}

/** The same of a run of an agent or a turn that is over; null if it ended as was wanted. Needs no worker. */
export async function whyEnded(
  temporal: Client,
  { workflowId, runId }: Pick<FailedAgent, 'workflowId' | 'runId'>,
): Promise<WhyFailed | null> {
  const handle = temporal.workflow.getHandle(workflowId, runId, { followRuns: false });
  try {
    const result = (await handle.result()) as Partial<AgentResult> | null;
    // A turn's agent may be open, and then goes on with a message; its own page says how it ended.
    // Of another release, or another workflow's.
    if (typeof result?.reason !== 'string') return null;
    return wordsOf(result as AgentResult, { isOpen: /\/turn\/\d+$/.test(workflowId) });
  } catch (err) {
    if (!(err instanceof WorkflowFailedError)) throw err;
    if (err.cause instanceof CancelledFailure || err.cause instanceof TerminatedFailure) return null;
    const how = failureText(err);
    const agent = agentIdOf(workflowId);
    const { code, detail, next } = fromFailure(err.cause) ?? new HoldfastError('agent_ended', { agent, how });
    return { code, message: detail, next };
  }
}

const LIMITS: Partial<Record<AgentResult['reason'], string>> = {
  step_limit: 'took as many steps as it may',
  time_limit: 'took as long as it may',
  size_limit: 'recorded as much as it may',
  token_limit: 'used as many tokens as it may',
  cost_limit: 'cost as much as it may',
};

/** Null if it ended as was wanted. */
export function wordsOf(result: AgentResult, { isOpen }: Pick<FailedAgent, 'isOpen'>): WhyFailed | null {
  if (!hasFailed(result)) return null;
  const { reason, error, steps } = result;
  if (error && isErrorCode(error.code)) {
    const { code, detail, next } = HoldfastError.received(error.code, error.facts);
    return { code, message: detail, next };
  }
  const how = LIMITS[reason] ?? `stopped as ${reason.replaceAll('_', ' ')}`;
  const next = isOpen ? 'Send a message to go on.' : 'Fork the agent to go on from there.';
  // An agent of another release may know codes that this one does not.
  if (error) return { code: error.code, message: error.message, next };
  const message = `The turn ${how}, and ended without an answer after ${counted(steps, 'step')}.`;
  return { code: reason, message, next };
}

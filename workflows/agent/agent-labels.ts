// What an agent and its turns show in Temporal's web UI: what they are doing, where to look, and what to send.
// Markdown; pure functions of the workflows' state.
import type { AgentResult, AgentState } from '../../contracts/agents/agent';
import { agentWorkflowId, sessionWorkflowId, turnWorkflowId } from '../../contracts/ids';
import { atTime, fenced, inMarkdown, listLink, messageList, workflowLink } from '../../contracts/text/labels';
import { SEARCH_ATTRIBUTES } from '../../contracts/messages';
import { questionDetails } from '../messages/approval-labels';
import { counted } from '../../contracts/text/counted';

const SHOWN_CHARACTERS = 2_000;
const PARAGRAPH = 500;

interface AgentFacts {
  state: AgentState;
  namespace: string;
  /** The message that the turn is working on. */
  message: string | null;
  since: Date;
}

export function agentDetails({ state, namespace, message, since }: AgentFacts): string {
  const { agent, host, sessions, queued, refused, lastResult, turns } = state;
  const shells = sessions.map((session) =>
    workflowLink(namespace, sessionWorkflowId({ agent, host, session })),
  );
  const query = `${SEARCH_ATTRIBUTES.agent}="${agent}"`;
  return paragraphs(
    questionDetails(state.approvals ?? [], namespace),
    headingOf(state, namespace),
    `since ${atTime(since)}${queued > 0 ? `, ${counted(queued, 'more message')} waiting` : ''}`,
    message !== null && `“${inMarkdown(message, PARAGRAPH)}”`,
    state.status !== 'working' &&
      lastResult &&
      `Turn ${turns} ended as **${inMarkdown(lastResult.reason)}** after ${counted(lastResult.steps, 'step')}:`,
    state.status !== 'working' && lastResult?.error && inMarkdown(lastResult.error.message, PARAGRAPH),
    state.status !== 'working' && lastResult?.answer && fenced(lastResult.answer, SHOWN_CHARACTERS),
    `Everything: ${listLink(namespace, query, 'agent, turns and sessions')}` +
      (shells.length > 0 ? `; sessions so far: ${shells.join(', ')}` : ''),
    agentList(state, namespace),
    usageLine(state),
    refused.length > 0 && `Refused signals: ${refused.map((text) => inMarkdown(text, PARAGRAPH)).join('; ')}`,
    state.status !== 'ended' &&
      messageList([
        ['say something', 'Signal `send`', '{"message":"and now?"}'],
        ['interrupt it with a message', 'Signal `send`', '{"message":"no, this","mode":"interrupt"}'],
        ['end its turn', 'Signal `interrupt`', null],
        ['end its turn, reset its sessions and continue', 'Signal `recover`', '{"reason":"stuck"}'],
        ['end it and its sessions', 'Request Cancellation, or Signal `stop`', '{"reason":"enough"}'],
      ]),
  );
}

function agentList({ agents }: AgentState, namespace: string): string {
  const lines = agents.map(({ agentId, role, status, since, result }) => {
    const how = status === 'running' ? 'working' : `ended as ${inMarkdown(result?.reason ?? 'unknown')}`;
    const page = workflowLink(namespace, agentWorkflowId(agentId));
    return `- ${inMarkdown(role)}: ${page}, ${how} since ${atTime(new Date(since))}`;
  });
  return lines.length > 0 ? `Sub-agents:\n${lines.join('\n')}` : '';
}

function usageLine({ usage }: AgentState): string {
  if (!usage) return '';
  const { inputTokens, cachedTokens, outputTokens, costUsd } = usage;
  const cost = costUsd === null ? '' : `, $${costUsd.toFixed(4)}`;
  return inMarkdown(
    `Tokens so far: ${inputTokens} in (${cachedTokens} from the cache), ${outputTokens} out${cost}`,
    PARAGRAPH,
  );
}

function headingOf({ agent, status, turns }: AgentState, namespace: string): string {
  switch (status) {
    case 'working':
      return `### Working: ${workflowLink(namespace, turnWorkflowId(agent, turns))}\nIts page shows the step, and which session waits for input`;
    case 'stopping':
      return '### Stopping';
    case 'ended':
      return '### Ended';
    case 'idle':
      return turns === 0 ? '### Waiting for its first message' : '### Waiting for a message';
  }
}

/** What a turn knows about a session that its calls used. */
export interface SeenSession {
  /** The step of the last call. */
  calledAt: number;
  /** The step whose tool reported the fact; null before the first answer. */
  seenAt: number | null;
  fact: string;
  /** Its program waits for input. */
  isWaiting: boolean;
}

export interface TurnFacts {
  agent: string;
  host: string;
  namespace: string;
  step: number;
  maxSteps: number;
  /** What the step is doing, for example "Asking the model". */
  doing: string;
  since: Date;
  headline: string | null;
  thoughts: readonly string[];
  sessions: ReadonlyMap<number, SeenSession>;
  /** Sessions that a person should join. */
  forPeople: readonly number[];
}

export function turnDetails(facts: TurnFacts): string {
  const { step, maxSteps, doing, since, headline, thoughts } = facts;
  return paragraphs(
    `### Step ${step} of at most ${maxSteps}${headline ? `: ${inMarkdown(headline)}` : ''}`,
    `${inMarkdown(doing)}, since ${atTime(since)}`,
    thoughts.length > 0 && `“${thoughts.map((thought) => inMarkdown(thought, PARAGRAPH)).join(' ')}”`,
    sessionList(facts),
    ...facts.forPeople.map(
      (session) =>
        `**Waiting for a person**, who can join with \`holdfast attach --agent ${facts.agent} --session ${session}\``,
    ),
    [...facts.sessions.values()].some(({ isWaiting }) => isWaiting) &&
      'To answer, open the session: More Actions, Send a Signal, `input` with `{"keyboard":"Y"}`.',
  );
}

export const endedTurnDetails = ({ answer, reason, error, steps }: AgentResult): string =>
  paragraphs(
    `### Ended as ${inMarkdown(reason)} after ${counted(steps, 'step')}`,
    error && inMarkdown(error.message, PARAGRAPH),
    answer && fenced(answer, SHOWN_CHARACTERS),
  );

function sessionList({ agent, host, namespace, step, sessions }: TurnFacts): string {
  const lines = [...sessions].map(([session, seen]) => {
    const link = workflowLink(namespace, sessionWorkflowId({ agent, host, session }));
    const fact = seen.isWaiting ? `**${inMarkdown(seen.fact)}**` : inMarkdown(seen.fact);
    const seenAt = seen.seenAt === null ? '' : `${fact} at step ${seen.seenAt}`;
    const now = seen.calledAt === step && seen.seenAt !== step ? 'in use by this step' : '';
    return `- ${link}: ${[seenAt, now].filter((part) => part).join('; ')}`;
  });
  return lines.join('\n');
}

const paragraphs = (...parts: (string | false | null | undefined)[]): string =>
  parts.filter((part) => part).join('\n\n');

// What a conversation carries over when it continues as new.
import { workflowInfo } from '@temporalio/workflow';
import type { AgentResult, Message, Usage } from '../../../contracts/agents/agent';
import type { Approval } from '../../../contracts/tools/approvals';
import type { SubAgentRecord } from '../../../contracts/agents/sub-agents';
import { fitText, jsonBytes } from '../../../contracts/payload-size';

export interface TakenMessage {
  id: string;
  hash: string;
  /** Only for the last ones. */
  result?: AgentResult;
}

export interface ConversationRecord {
  /** What the model still sees. */
  messages: Message[];
  turns: number;
  /** The steps of the whole conversation. */
  steps: number;
  sessions: number[];
  agents: SubAgentRecord[];
  /** Queued messages that came by signal. */
  queue: string[];
  /** How many of them interrupt, which are the first; absent: none. */
  urgent?: number;
  lastResult: AgentResult | null;
  /** A person has dismissed that the last turn failed. */
  isDismissed?: boolean;
  usage: Usage | null;
  refused: string[];
  /** Accepted message ids. */
  taken: TakenMessage[];
  /** Questions of sessions, which may outlast a turn. */
  questions: Record<string, Approval[]>;
  /** Nothing of it can have opened a session so far. */
  isWithoutSessions?: boolean;
}

export const newConversation = (): ConversationRecord => ({
  messages: [],
  turns: 0,
  steps: 0,
  sessions: [],
  agents: [],
  queue: [],
  lastResult: null,
  usage: null,
  refused: [],
  taken: [],
  questions: {},
});

/** The result of a turn that produced nothing. */
export const STOPPED: AgentResult = { answer: null, reason: 'stopped', error: null, steps: 0 };

/** A replay reads the whole history: beyond this it delays callers. */
const CONTINUE_AT_EVENTS = 2_000;
/** The server ends a workflow at 50 MB, and loads all of it for a replay. */
const CONTINUE_AT_BYTES = 8_000_000;

export function isLong(): boolean {
  const { historyLength, historySize, continueAsNewSuggested } = workflowInfo();
  return continueAsNewSuggested || historyLength > CONTINUE_AT_EVENTS || historySize > CONTINUE_AT_BYTES;
}

/** Whether a run that is too long may go on for some more turns: up to so many times its limits. */
export function hasRoom(times = 2): boolean {
  const { historyLength, historySize } = workflowInfo();
  return historyLength <= times * CONTINUE_AT_EVENTS && historySize <= times * CONTINUE_AT_BYTES;
}

/** Messages up to this size are carried over without compaction. */
export const MAX_CARRIED_BYTES = 900_000;
/** Together with the messages and the agent's input this is one payload of at most 2 MB. */
const MAX_REST_BYTES = 700_000;
const MAX_RESULT_BYTES = 200_000;

/** The last result for the next run: its beginning and end are enough, since the messages hold the whole. */
export function carriedResult({ output, ...result }: AgentResult, maxBytes = MAX_RESULT_BYTES): AgentResult {
  const isSmall = output !== undefined && jsonBytes(output) <= maxBytes;
  const answer = result.answer && fitText(result.answer, maxBytes);
  return { ...result, answer, ...(isSmall && { output }) };
}

/** Whether the rest of the record fits into one payload with the messages. */
export const fits = (record: ConversationRecord): boolean =>
  jsonBytes({ ...record, messages: [] }) <= MAX_REST_BYTES;

/** The number of the last step: `before`, if none of the messages has one. */
export const lastStep = (messages: readonly Message[], before = 0): number =>
  messages.reduce((last, message) => Math.max(last, ('step' in message && message.step) || 0), before);
